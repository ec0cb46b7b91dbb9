//! What is in a snapshot: heaps that are known block by block, against the runtime's own counts.

use memtrail_heap::read::Strength;
use memtrail_heap::write::Space;
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents;
use memtrail_test_support::programs::{build, build_plugin, build_with, strip};
use memtrail_test_support::running::Case;
use memtrail_test_support::snapshot::{Heap, Root};
use memtrail_test_support::{on_each, on_each_build};

use crate::asking::{Running, snapshots_of};

const AT_EXIT: [&str; 4] = ["--rate", "1e-2", "--snapshot", "exit"];

/// What a program printed, and its heap as it ended.
fn at_exit(case: Case) -> (String, Heap) {
    let recorded = case.options(&AT_EXIT).same();
    (recorded.seen.stdout(), Heap::read(&recorded.recording.join("0001.heap")))
}

on_each_build!(known_shapes, |compiler| {
    let compiler = named(compiler);
    let (printed, heap) = at_exit(Case::new(&build(&compiler, "heap_shapes"), &[]));
    let mut shapes = 0;
    for line in printed.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let [field, name, words] = words[..] else { continue };
        let path = format!("global/Heap_shapes/{field}");
        let found = if compiler.version >= (5, 0) {
            // `Obj.reachable_words` counts static data, too.
            heap.words(&heap.reachable(heap.roots_at(&path).iter().map(|root| root.block)))
        } else {
            heap.below(&path).1
        };
        assert_eq!(found.to_string(), words, "{name}");
        shapes += 1;
    }
    assert_eq!(shapes, 13, "{printed}");
});

on_each!(finalisers_and_what_they_keep, |compiler| {
    let program = strip(&build(&named(compiler), "heap_shapes"));
    let (_, heap) = at_exit(Case::new(&program, &[]));
    let held = |function: &str| {
        let roots = heap.roots_at(&format!("finaliser/Heap_shapes.{function}"));
        let value = roots.iter().find(|root| root.strength != Strength::Strong);
        let value = value.unwrap_or_else(|| panic!("{function}: {:?}", heap.paths()));
        (value.strength, heap.sum(&heap.reachable([value.block])))
    };
    assert_eq!(held("first"), (Strength::Finaliser, (1, 78)));
    assert_eq!(held("last"), (Strength::Last, (1, 401)));
    assert_eq!(held("also"), (Strength::Finaliser, (1000, 3000)));
    let live = heap.live();
    let lives = |words: u64| {
        let all = heap.blocks.iter().zip(&live).filter(|(block, _)| block.wosize == words);
        all.map(|(_, live)| *live).collect::<Vec<_>>()
    };
    assert_eq!(lives(77), [true]);
    assert_eq!(lives(400), [false]);
});

on_each_build!(weak_things_keep_nothing, |compiler| {
    let (_, heap) = at_exit(Case::new(&build(&named(compiler), "heap_shapes"), &[]));
    // The arrays of 60 and 61 words are data of ephemerons; the key of the second is dead.
    let (all, without_key) = (heap.live(), heap.below("global/Heap_shapes/20"));
    assert_eq!(without_key, (3, 3 + 2 * 4));
    let live = |words: u64| {
        let found = heap.blocks.iter().zip(&all).filter(|(block, _)| block.wosize == words);
        found.filter(|(_, live)| **live).count()
    };
    assert_eq!(live(60), 1);
    let data: Vec<_> = heap.ephemerons.iter().filter_map(|(_, data, _)| *data).collect();
    assert!(data.iter().any(|data| heap.blocks[*data as usize].wosize == 60));
    // Two ephemerons and a weak array.
    assert!(heap.ephemerons.len() >= 3, "{:?}", heap.ephemerons);
});

on_each_build!(memory_outside_the_heap, |compiler| {
    let (_, heap) = at_exit(Case::new(&build(&named(compiler), "heap_shapes"), &[]));
    let bigarrays: Vec<_> = heap
        .blocks
        .iter()
        .filter_map(|block| block.custom.as_ref().filter(|(name, _)| name == "_bigarr02"))
        .map(|(_, bytes)| *bytes)
        .collect();
    assert_eq!(bigarrays, [12_345 * 8]);
    assert!(heap.blocks.iter().any(|b| b.custom.as_ref().is_some_and(|(name, _)| name == "_chan")));
    assert!(
        heap.blocks.iter().any(|block| block.function == "Heap_shapes.add"
            || block.function.starts_with("Heap_shapes."))
    );
});

on_each!(all_that_lives_to_the_word, |compiler| {
    let compiler = named(compiler);
    let (printed, heap) = at_exit(Case::new(&build(&compiler, "heap_live"), &[]));
    let (blocks, words) = heap.sum(&heap.live());
    // OCaml 5.0 and 5.1 leave one block of four fields out; which is not known.
    let leaves_one_out = matches!(compiler.version, (5, 0 | 1));
    let (blocks, words) = if leaves_one_out { (blocks - 1, words - 5) } else { (blocks, words) };
    // OCaml 5 counts two words more for each large block.
    let large = heap.counters.get("large_blocks").copied().unwrap_or(0);
    assert_eq!(printed.trim(), format!("{blocks} {}", words + 2 * large));
    heap.expect_names();
    // OCaml 5 has no pointers out of the heap.
    if compiler.version >= (5, 0) {
        assert_eq!(heap.outside, 0);
    }
});

// The clock of the work where there are no samples: a leak was cleared when snapshots came at uneven steps.
on_each!(allocated_words_are_those_that_the_runtime_counts, |compiler| {
    let case = Case::new(&build(&named(compiler), "allocated_words"), &[]).options(&AT_EXIT);
    // The sampler allocates, too.
    let recorded = case.recorded();
    let heap = Heap::read(&recorded.recording.join("0001.heap"));
    let truth: f64 = recorded.seen.stdout().trim().parse().expect("words");
    let counted = heap.counters["allocated_words"] as f64;
    // It prints after it has counted.
    assert!((truth..truth + 5_000.0).contains(&counted), "{counted} of {truth}");
});

on_each_build!(blocks_of_the_trace_are_known, |compiler| {
    let case = Case::new(&build(&named(compiler), "heap_live"), &[]).options(&AT_EXIT);
    let recorded = case.same();
    let heap = Heap::read(&recorded.recording.join("0001.heap"));
    let taken = snapshots_of(&recorded.recording)[0].taken_unix_us;
    let trace = contents::read(&recorded.recording);
    for (block, id) in &heap.samples {
        let sampled = trace.blocks.iter().find(|sampled| sampled.id == *id).expect("in the trace");
        // Custom blocks count with what they hold elsewhere.
        if sampled.source != memtrail_trace::Source::External {
            assert_eq!(sampled.words, heap.blocks[*block as usize].wosize, "{sampled:?}");
        }
        assert!(sampled.collected.is_none_or(|time| time >= taken), "{sampled:?}, at {taken}");
    }
    let live = heap.live();
    let known = heap.samples.keys().filter(|block| live[**block as usize]).count() as f64;
    // A word in a hundred is sampled: a block is known with a probability by its size.
    let expected: f64 = heap
        .blocks
        .iter()
        .zip(&live)
        .filter(|(_, live)| **live)
        .map(|(block, _)| 1.0 - 0.99f64.powf((block.wosize + 1) as f64))
        .sum();
    let error = expected.sqrt();
    assert!((known - expected).abs() < 6.0 * error, "{known} known, {expected:.0} ± {error:.0}");
});

on_each_build!(plugins_have_names, |compiler| {
    let (host, plugin) = build_plugin(&named(compiler));
    let plugin = plugin.to_str().expect("a path in UTF-8");
    let (_, heap) = at_exit(Case::new(&host, &[plugin]));
    assert!(heap.roots_at("other").is_empty(), "{:#?}", heap.roots_at("other"));
    assert!(!heap.roots_at("global/Plugin").is_empty(), "{:#?}", heap.paths());
});

on_each_build!(modules_own_blocks_are_there, |compiler| {
    let (_, heap) = at_exit(Case::new(&build(&named(compiler), "heap_shapes"), &[]));
    let roots = heap.roots_at("global/Heap_shapes");
    // With flambda, values have blocks of their own as well.
    let is_own =
        |root: &&&Root| root.strength == Strength::Weak && root.path == "global/Heap_shapes";
    let own: Vec<_> = roots.iter().filter(is_own).collect();
    assert_eq!(own.len(), 1, "{roots:?}");
    let block = &heap.blocks[own[0].block as usize];
    assert_eq!(block.space, Space::Static);
    // It has 22 fields at least, of which those that hold something are roots of their own.
    assert!(block.wosize >= 22 && block.targets.is_empty(), "{block:?}");
});

on_each!(what_c_code_holds, |compiler| {
    let program = build_with(&named(compiler), "heap_c", &["heap_c_stubs.c"]);
    let running = Running::start(&program, &["--snapshot", "request"]);
    let heap = running.snapshot();
    let by = |words: u64| {
        let holds = |root: &&Root| heap.blocks[root.block as usize].wosize == words;
        let paths: Vec<_> = heap.roots.iter().filter(holds).map(|root| root.path.clone()).collect();
        assert_eq!(paths.len(), 1, "{words}: {paths:?} of {:#?}", heap.paths());
        paths[0].clone()
    };
    assert_eq!(by(201), "global-c/exported");
    // The dynamic linker does not know it; the file does.
    assert_eq!(by(202), "global-c/hidden");
    assert_eq!(by(203), "global-c/memory allocated in C");
    assert_eq!(by(204), "hook/caml_scan_roots_hook");
    assert_eq!(by(205), "global-c/the array");
    assert_eq!(by(206), "local-c/0");
    assert_eq!(running.end().stdout, "206\n");
});

// A stripped program has no symbols of variables that are private to a C file.
on_each!(what_c_code_of_a_stripped_program_holds, |compiler| {
    let program = strip(&build_with(&named(compiler), "heap_c", &["heap_c_stubs.c"]));
    let running = Running::start(&program, &["--snapshot", "request"]);
    let heap = running.snapshot();
    let paths = |words: u64| {
        let holds = |root: &&Root| heap.blocks[root.block as usize].wosize == words;
        heap.roots.iter().filter(holds).map(|root| root.path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(paths(201), ["global-c/exported"]);
    let hidden = paths(202);
    assert!(hidden[0].starts_with("global-c/heap_c.stripped .data+0x"), "{hidden:?}");
    running.end();
});

on_each_build!(contents_only_when_asked_for, |compiler| {
    let case = Case::new(&build(&named(compiler), "heap_live"), &[]);
    let with = case.options(&["--snapshot", "exit", "--contents"]).recorded();
    let heap = Heap::read(&with.recording.join("0001.heap"));
    assert!(heap.strings.values().any(|text| text.starts_with(b"15\0") || text == b"15"));
    let (_, heap) = at_exit(Case::new(&build(&named(compiler), "heap_live"), &[]));
    assert!(heap.strings.is_empty());
});
