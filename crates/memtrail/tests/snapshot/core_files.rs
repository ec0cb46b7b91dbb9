//! Heaps in core files: against the runtime's own counts, and against snapshots that the agent takes of the same process.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use memtrail_heap::read::Strength;
use memtrail_heap::write::Space;
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{
    Interpreter, Program, build, build_interpreted, build_static, build_with, build_with_musl,
    strip,
};
use memtrail_test_support::snapshot::Heap;

use crate::asking::Running;
use crate::cores::{Plain, gcore, heap_of, read};

/// Blocks and words that live, as the runtime counts them.
pub(crate) fn counted(heap: &Heap) -> String {
    // Blocks of the minor heap are younger than the count.
    let live = heap.live().into_iter().zip(&heap.blocks);
    let live: Vec<bool> = live.map(|(live, block)| live && block.space != Space::Minor).collect();
    let (blocks, words) = heap.sum(&live);
    // OCaml 5 counts two words more for each large block.
    let large = heap.counters.get("large_blocks").copied().unwrap_or(0);
    format!("{blocks} {}", words + 2 * large)
}

/// Fails unless gdb's core file of a program has what the program says of its heap.
fn assert_counts(program: &Program) {
    let plain = Plain::start(program, &[]);
    let (heap, notes) = heap_of(&plain.gcore(), &[]);
    assert_heap(&plain, &heap, &notes, true);
}

/// Fails unless a heap has what the program says of it, with names.
fn assert_heap(plain: &Plain, heap: &Heap, notes: &[String], has_symbols: bool) {
    assert_eq!(counted(heap), plain.line.trim());
    assert_eq!(heap.pid, u64::from(plain.pid()));
    assert_eq!(notes.len(), 1, "{notes:?}");
    heap.expect_names();
    let held = |path: &str| {
        let roots = heap.roots_at(path).into_iter();
        let sizes = roots.map(|root| (root.strength, heap.blocks[root.block as usize].wosize));
        sizes.collect::<Vec<_>>()
    };
    // Only symbols name these functions: they end in a jump, and no debug information is about them.
    let [first, last] = if has_symbols {
        ["finaliser/Heap_core.first", "finaliser/Heap_core.last"]
    } else {
        ["finaliser"; 2]
    };
    assert!(held(first).contains(&(Strength::Finaliser, 77)));
    assert!(held(last).contains(&(Strength::Last, 400)));
    assert_eq!(held("global-c/a named value"), [(Strength::Strong, 205)]);
    let frames = heap.paths();
    assert!(frames.iter().any(|path| path.ends_with("/Heap_core.deep")), "{frames:?}");
}

on_each!(all_that_lives_to_the_word, |compiler| {
    assert_counts(&build(&named(compiler), "heap_core"));
});

on_each!(without_symbols_but_the_dynamic_linkers, |compiler| {
    assert_counts(&strip(&build(&named(compiler), "heap_core")));
});

on_each!(of_static_executables, |compiler| {
    assert_counts(&build_static(&named(compiler), "heap_core"));
});

on_each!(of_static_executables_without_symbols, |compiler| {
    let with_symbols = build_static(&named(compiler), "heap_core");
    let program = strip(&with_symbols);
    let plain = Plain::start(&program, &[]);
    let core = plain.gcore();
    let (found, notes) = heap_of(&core, &[]);
    assert_heap(&plain, &found, &notes, false);
    // Symbols of the other executable lead to the same roots.
    let (expected, _) = heap_of(&core, &[with_symbols.path.to_str().expect("UTF-8")]);
    let strong = |heap: &Heap| {
        let roots = roots_of(heap).into_iter();
        let held = roots.filter(|((_, strength, _), _)| strength != "Weak");
        held.map(|((_, strength, size), count)| ((strength, size), count)).fold(
            BTreeMap::new(),
            |mut sums, (root, count)| {
                *sums.entry(root).or_insert(0) += count;
                sums
            },
        )
    };
    assert_eq!(strong(&found), strong(&expected));
});

on_each!(threads_without_symbols_are_those_with_symbols, |compiler| {
    let with_symbols = build_static(&named(compiler), "heap_threads");
    let plain = Plain::start(&strip(&with_symbols), &[]);
    let core = plain.gcore();
    let (found, _) = heap_of(&core, &[]);
    let (expected, _) = heap_of(&core, &[with_symbols.path.to_str().expect("UTF-8")]);
    let of_threads = |heap: &Heap| {
        let mut roots = roots_of(heap);
        roots.retain(|(path, ..), _| path.starts_with("stack/") || path.starts_with("local-c/"));
        roots
    };
    assert_eq!(of_threads(&found), of_threads(&expected));
    assert!(of_threads(&found).len() > 3, "{:?}", of_threads(&found));
});

on_each!(with_the_c_library_of_musl, |compiler| {
    assert_counts(&build_with_musl(&named(compiler), "heap_core", true));
    // Its linker does not know the runtime's symbols.
    assert_counts(&build_with_musl(&named(compiler), "heap_core", false));
});

/// Fails unless the heap of a bytecode program has what the program says of it, with names from its file.
pub(crate) fn assert_interpreted(
    plain: &Plain,
    heap: &Heap,
    notes: &[String],
    compiler: &str,
    has_events: bool,
) {
    assert_eq!(counted(heap), plain.line.trim());
    assert_eq!(notes.len(), 1, "{notes:?}");
    heap.expect_names();
    let paths = heap.paths();
    assert!(paths.contains(&"global/Stdlib"), "{paths:?}");
    assert!(!heap.roots_at("global-c/a named value").is_empty(), "{paths:?}");
    if has_events {
        // A module that is being initialised has its variables on the stack. Their names are not read from 5.5's events.
        let is_read = compiler != "ocaml-5.5";
        assert_eq!(paths.contains(&"global/Heap_core/kept"), is_read, "{paths:?}");
        assert!(paths.iter().any(|path| path.ends_with("/Heap_core.deep")), "{paths:?}");
        assert!(paths.contains(&"finaliser/Heap_core.first"), "{paths:?}");
    }
}

on_each!(of_bytecode, |compiler| {
    for interpreter in [Interpreter::Separate, Interpreter::InFile, Interpreter::WithData] {
        let program = build_interpreted(&named(compiler), "heap_core", interpreter);
        let plain = Plain::start(&program, &[]);
        let (heap, notes) = heap_of(&plain.gcore(), &[]);
        assert_interpreted(&plain, &heap, &notes, compiler, interpreter != Interpreter::WithData);
    }
});

on_each!(by_the_kernel, |compiler| {
    let mut plain = Plain::start(&build(&named(compiler), "heap_core"), &[]);
    let (heap, _) = heap_of(&plain.kernel_core(), &[]);
    assert_eq!(counted(&heap), plain.line.trim());
});

/// All roots: what they are called, how they hold, and the size of the block.
pub(crate) fn roots_of(heap: &Heap) -> BTreeMap<(String, String, u64), usize> {
    let mut roots = BTreeMap::new();
    for root in &heap.roots {
        let size = heap.blocks[root.block as usize].wosize;
        *roots.entry((root.path.clone(), format!("{:?}", root.strength), size)).or_default() += 1;
    }
    roots
}

/// Fails unless a core file of a recorded program has the roots that the agent finds, but those of which `is_exempt`.
fn assert_same_as_agent(program: &Program, is_exempt: impl Fn(&str) -> bool) {
    let running = Running::start(program, &["--snapshot", "request", "--rate", "1e-9"]);
    let own = running.snapshot();
    let folder = tempfile::tempdir().expect("a folder");
    let pid = running.pid.parse().expect("a number");
    let (found, _) = heap_of(&gcore(pid, folder.path()), &[]);
    let (expected, roots) = (roots_of(&own), roots_of(&found));
    let counts = |path: &str| !is_exempt(path);
    let missing: Vec<_> = expected
        .iter()
        .filter(|&(root, n)| roots.get(root) != Some(n) && counts(&root.0))
        .collect();
    let more: Vec<_> = roots
        .iter()
        .filter(|&(root, n)| expected.get(root) != Some(n) && counts(&root.0))
        .collect();
    assert!(missing.is_empty() && more.is_empty(), "missing: {missing:#?}\nmore: {more:#?}");
    assert!(expected.len() > 100, "{expected:#?}");
    running.end();
}

on_each!(threads_are_those_of_the_agent, |compiler| {
    assert_same_as_agent(&build(&named(compiler), "heap_threads"), |_| false);
});

on_each!(variables_of_c_are_those_of_the_agent, |compiler| {
    let program = strip(&build_with(&named(compiler), "heap_c", &["heap_c_stubs.c"]));
    // Hooks of C libraries are code, which does not run in a core file.
    assert_same_as_agent(&program, |path| path.starts_with("hook/"));
});

#[test]
fn domains_are_those_of_the_agent() {
    // Two of the domains run.
    let program = build(&named("ocaml-5.3.0"), "heap_domains");
    assert_same_as_agent(&program, |path| path.starts_with("stack/"));
}

on_each!(code_that_runs_keeps_what_it_uses, |compiler| {
    for arguments in [&[][..], &["allocate"]] {
        let plain = Plain::start(&build(&named(compiler), "heap_core_runs"), arguments);
        let (heap, notes) = heap_of(&plain.gcore(), &[]);
        let table = heap.roots_at("global/Heap_core_runs/0");
        let found = heap.words(&heap.reachable(table.iter().map(|root| root.block)));
        assert_eq!(found.to_string(), plain.line.trim());
        if arguments.is_empty() {
            assert!(
                notes.iter().any(|note| note.contains("1 threads ran OCaml code")),
                "{notes:?}"
            );
        }
    }
});

#[test]
fn core_files_of_one_process_name_what_grew() {
    let mut plain = Plain::start(&build(&named("system"), "heap_core_grows"), &[]);
    let recording = plain.folder.path().join("grows.memtrail");
    for number in 1..=3 {
        let core = plain.gcore();
        let output = read(&core, &["--json"], &recording);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["snapshot"]["number"], number, "{output:?}");
        assert_eq!(answer["pid"], plain.pid());
        fs::remove_file(core).expect("removed");
        plain.next_line();
    }
    let mut growth = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let growth = growth.args(["heap", "growth", "--json"]).arg(&recording).output();
    let growth = String::from_utf8(growth.expect("memtrail heap growth").stdout).expect("UTF-8");
    assert!(
        growth.contains("Heap_core_grows / field 0") && !growth.contains("field 1"),
        "{growth}"
    );
}
