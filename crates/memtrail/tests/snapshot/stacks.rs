//! What frames, threads, domains and continuations keep.

use memtrail_heap::read::Strength;
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;

use crate::asking::Running;

const ON_REQUEST: [&str; 2] = ["--snapshot", "request"];

on_each!(each_frame_by_its_function_and_line, |compiler| {
    let program = build(&named(compiler), "heap_waits");
    let running = Running::start(&program, &ON_REQUEST);
    let heap = running.snapshot();
    let source = include_str!("../../../../tests/programs/heap_waits.ml");
    let line = 1 + source.lines().position(|l| l.contains("nested (n - 1)")).expect("it is there");
    let mut held: Vec<_> = heap
        .roots
        .iter()
        .filter(|root| root.path.ends_with("/Heap_waits.nested") && root.line == line as u64)
        .map(|root| heap.blocks[root.block as usize].wosize + 1)
        .collect();
    held.sort_unstable();
    assert_eq!(held, [101, 102, 103], "{:#?}", heap.paths());
    let ended = running.end();
    // The arrays are 100, 101 and 102 long, without their headers.
    assert_eq!((ended.stdout.as_str(), ended.code), ("woken by input\n303\n", Some(0)));
});

on_each!(each_thread_by_its_number, |compiler| {
    let running = Running::start(&build(&named(compiler), "heap_threads"), &ON_REQUEST);
    let heap = running.snapshot();
    let mut held: Vec<_> = heap
        .roots
        .iter()
        .filter(|root| root.path.starts_with("stack/") && root.path.ends_with("/Heap_threads.wait"))
        .map(|root| (root.path.clone(), heap.blocks[root.block as usize].wosize + 1))
        .filter(|(_, words)| *words >= 1000)
        .collect();
    held.sort();
    let words: Vec<_> = held.iter().map(|(_, words)| *words).collect();
    assert_eq!(words, [1000, 2000, 3000], "{held:?}");
    let threads: Vec<_> = held.iter().map(|(path, _)| path).collect();
    assert!(threads.windows(2).all(|pair| pair[0] != pair[1]), "{threads:?}");
    // A thread of ours is among the runtime's when nothing runs. It had the number of the first.
    let is_number = |part: &str| part.parse::<u64>().is_ok();
    let of_thread = |path: &&String| {
        path.strip_prefix("stack/").is_some_and(|path| path.split('/').all(is_number))
    };
    let mut threads: Vec<_> = heap.labels.iter().filter(of_thread).collect();
    threads.sort();
    assert!(threads.len() >= 4, "{threads:?}");
    assert!(threads.windows(2).all(|pair| pair[0] != pair[1]), "{threads:?}");
    assert_eq!(running.end().stdout, "done\n");
});

#[test]
fn what_domains_that_have_ended_left() {
    let running = Running::start(&build(&named("ocaml-5.3.0"), "heap_ended"), &ON_REQUEST);
    let heap = running.snapshot();
    let held = |function: &str, strength| {
        let mut held: Vec<_> = heap
            .roots_at(&format!("finaliser/Heap_ended.{function}"))
            .iter()
            .filter(|root| root.strength == strength)
            .map(|root| heap.blocks[root.block as usize].wosize)
            .collect();
        held.sort_unstable();
        held
    };
    assert_eq!(held("first", Strength::Finaliser), [301, 302, 303, 304]);
    assert_eq!(held("last", Strength::Last), [401, 402, 403, 404]);
    let live = heap.live();
    let lives = |words: u64| {
        let mut all = heap.blocks.iter().zip(&live).filter(|(block, _)| block.wosize == words);
        all.any(|(_, live)| *live)
    };
    for n in 1..=4 {
        assert!(lives(100 + n) && lives(200 + n) && lives(300 + n) && lives(400 + n), "{n}");
    }
    // Data without their keys are held by nothing but the ephemeron.
    let data: Vec<_> = heap.ephemerons.iter().filter_map(|(_, data, _)| *data).collect();
    assert_eq!(data.len(), 4, "{:?}", heap.ephemerons);
    assert!(running.end().stdout.starts_with("true"));
}

#[test]
fn domains_and_continuations() {
    let running = Running::start(&build(&named("ocaml-5.3.0"), "heap_domains"), &ON_REQUEST);
    let heap = running.snapshot();
    let domains: std::collections::BTreeSet<_> = heap
        .roots_at("domain")
        .iter()
        .filter_map(|root| root.path.split('/').nth(1).map(str::to_owned))
        .collect();
    // The main one, two that run, one that waits; that which has ended is none.
    assert_eq!(domains.len(), 4, "{domains:?}");
    // Five continuations, whose frames hold 100 to 500 words.
    let captured = heap.roots.iter().find(|root| {
        root.path.starts_with("global/Heap_domains/") && {
            let reached = heap.reachable([root.block]);
            let held = |words| {
                heap.blocks.iter().zip(&reached).any(|(b, reached)| *reached && b.wosize == words)
            };
            (1..=5).all(|n| held(100 * n - 1))
        }
    });
    assert!(captured.is_some(), "{:#?}", heap.paths());
    // What a domain that has ended made: 10,000 cells and 10,000 options.
    let made = heap.roots.iter().any(|root| {
        root.path.starts_with("global/Heap_domains/")
            && heap.sum(&heap.reachable([root.block])) == (20_000, 50_000)
    });
    assert!(made, "{:#?}", heap.paths());
    // Domain-local state.
    let (_, local) = heap.below("domain/0");
    assert!(local >= 5000, "{local}");
    assert_eq!(running.end().stdout, "10000\n");
}
