//! Recordings tell the truth: names, places, sizes, lifetimes.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::Command;

use memtrail_recording::FileState;
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{Block, read};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{Program, build, build_embedded, build_plugin, strip};
use memtrail_test_support::running::Case;
use memtrail_trace::Source;

fn names(program: &Program) {
    let contents = read(&Case::new(program, &[]).options(&["--rate", "1e-2"]).same().recording);
    for (function, line) in [
        ("Named.Outer.Inner.deep_in_modules", "let[@inline never] deep_in_modules"),
        ("Named.Make.in_functor", "let[@inline never] in_functor"),
        ("Named.inlined", "let[@inline always] inlined"),
        ("Named.calls_inlined", "let[@inline never] calls_inlined"),
        ("Named.(+++)", "( +++ ) a b ="),
        ("Named.with_closure.(fun)", "let[@inline never] with_closure"),
        ("Named.with_local.local", "let rec local"),
    ] {
        let source = include_str!("../../../../tests/programs/named.ml");
        let line = 1 + source.lines().position(|l| l.contains(line)).expect(line);
        let place = format!("named.ml:{line}");
        let found: BTreeSet<_> = contents
            .inside(function)
            .flat_map(|block| block.stack.iter().zip(&block.places))
            .filter(|(f, _)| *f == function)
            .map(|(_, place)| place.as_str())
            .collect();
        let all: BTreeSet<_> = contents.blocks.iter().flat_map(|block| &block.stack).collect();
        assert!(found.contains(place.as_str()), "{function} at {place}: {found:?}, {all:?}");
    }
    assert!(contents.inside("Stdlib.List.map").next().is_some(), "no Stdlib.List.map");
    let inlined = contents.inside("Named.inlined").next().expect("asserted above");
    let at = inlined.stack.iter().position(|f| f == "Named.inlined").expect("it is inside");
    assert_eq!(inlined.stack[at + 1], "Named.calls_inlined", "inlined frames are kept");
}

on_each!(places_by_name, |compiler| names(&build(&named(compiler), "named")));
on_each!(places_by_name_stripped, |compiler| names(&strip(&build(&named(compiler), "named"))));

on_each!(lifetimes, |compiler| {
    let program = build(&named(compiler), "lifetimes");
    let contents = read(&Case::new(&program, &[]).options(&["--rate", "1e-2"]).same().recording);
    // 400 bytes are 51 words with their padding, 52 with the header; a list cell is 3.
    contents.expect_words("Lifetimes.forever", 20_000.0 * 55.0);
    contents.expect_words("Lifetimes.brief", 20_000.0 * 52.0);
    let share = |function: &str, wanted: fn(&Block) -> bool| {
        let all = contents.inside(function).count();
        let some = contents.inside(function).filter(|b| wanted(b)).count();
        assert!(all > 100, "{function}: only {all} blocks");
        some as f64 / all as f64
    };
    assert!(share("Lifetimes.forever", |b| b.collected.is_some()) < 1e-9);
    assert!(share("Lifetimes.promoted", |b| b.collected.is_some()) > 0.98);
    assert!(share("Lifetimes.promoted", |b| b.promoted.is_some()) > 0.9);
    assert!(share("Lifetimes.brief", |b| b.collected.is_some()) > 0.98);
    assert!(share("Lifetimes.brief", |b| b.promoted.is_some()) < 0.1);
    for block in &contents.blocks {
        let promoted = block.promoted.unwrap_or(block.allocated);
        assert!(block.allocated <= promoted, "{block:?}");
        assert!(block.collected.is_none_or(|end| promoted <= end), "{block:?}");
    }
});

on_each!(sizes_and_heaps, |compiler| {
    let program = build(&named(compiler), "exact");
    let contents = read(&Case::new(&program, &["1"]).options(&["--rate", "1e-2"]).same().recording);
    for (function, words, source) in [
        ("Exact.alloc_small_1", vec![1], Source::Minor),
        ("Exact.alloc_small_3", vec![3], Source::Minor),
        ("Exact.alloc_small_10", vec![10], Source::Minor),
        ("Exact.alloc_both_5", vec![2, 3], Source::Minor),
        ("Exact.alloc_bytes_25", vec![25], Source::Minor),
        ("Exact.alloc_array_256", vec![256], Source::Minor),
        ("Exact.alloc_large_257", vec![257], Source::Major),
        ("Exact.alloc_large_20000", vec![20_000], Source::Major),
    ] {
        let mut seen = 0;
        for block in contents.inside(function) {
            assert!(words.contains(&block.words), "{function}: {block:?}");
            assert_eq!(block.source, source, "{function}: {block:?}");
            assert!(block.samples >= 1, "{function}: {block:?}");
            seen += 1;
        }
        assert!(seen > 5, "{function}: {seen} blocks");
    }
});

on_each!(deep_stacks_are_whole, |compiler| {
    let program = build(&named(compiler), "deep");
    let case = Case::new(&program, &[]).options(&["--callstack-depth", "12288"]);
    let contents = read(&case.same().recording);
    let deepest = contents.blocks.iter().map(|b| b.stack.len()).max().unwrap_or_default();
    assert!(deepest > 5_000, "the deepest stack has {deepest} frames");
});

on_each!(plugins, |compiler| {
    let (host, plugin) = build_plugin(&named(compiler));
    let plugin = plugin.to_str().expect("a path in UTF-8");
    let contents = read(&Case::new(&host, &[plugin]).same().recording);
    // 100 bytes are 13 words and a header; the pair is 3 words, the list cell 3.
    contents.expect_words("Plugin.allocate_in_plugin", 50_000.0 * 20.0);
});

on_each!(embedded_runtimes, |compiler| {
    let contents = read(&Case::new(&build_embedded(&named(compiler)), &[]).same().recording);
    assert!(contents.inside("Embedded.grow").count() > 100);
});

on_each!(threads, |compiler| {
    let contents = read(&Case::new(&build(&named(compiler), "threads"), &[]).same().recording);
    // 30,000 rounds of a pair and a list cell, in 20 threads; what filteri makes comes on top.
    let (words, error) = contents.words("Threads.work");
    assert!(words + 5.0 * error > 20.0 * 30_000.0 * 6.0, "{words} ± {error}");
});

#[test]
fn domains() {
    let program = build(&named("ocaml-5.3.0"), "domains");
    let contents = read(&Case::new(&program, &[]).same().recording);
    // Of eight rounds, four domains and the main one work; one of the domains has three threads.
    let works = 8.0 * (3.0 + 3.0 + 1.0);
    let (words, error) = contents.words("Domains.work");
    // The string alone is 2 words, 20,000 times.
    assert!(words + 5.0 * error > works * 20_000.0 * 2.0, "{words} ± {error}");
    assert!(contents.description.trace.state == FileState::Complete);
}

#[test]
fn fibers() {
    let program = build(&named("ocaml-5.3.0"), "fibers");
    let contents = read(&Case::new(&program, &[]).options(&["--rate", "1e-2"]).same().recording);
    // Stacks go through the handler to the main program.
    let nested = contents.inside("Fibers.nested").max_by_key(|b| b.stack.len()).expect("some");
    assert!(nested.stack.iter().filter(|f| *f == "Fibers.nested").count() >= 10, "{nested:?}");
}

on_each!(descriptions, |compiler| {
    let compiler = named(compiler);
    let program = build(&compiler, "lifetimes");
    let recorded = Case::new(&program, &["an argument"]).same();
    let description = read(&recorded.recording).description;
    assert_eq!(description.program, program.path.to_string_lossy());
    assert_eq!(description.arguments[1..], ["an argument"]);
    assert_eq!(description.runtime.language, "OCaml");
    assert_eq!(
        description.runtime.version,
        format!("{}.{}", compiler.version.0, compiler.version.1)
    );
    assert!((description.sampling.rate - 1e-3).abs() < 1e-12);
    assert_eq!(description.trace.state, FileState::Complete);
    assert_eq!(description.trace.lost, 0);
    assert_eq!(description.outcome, Some(memtrail_recording::Outcome::Exited { code: Some(0) }));
});

/// The recording had them, and Parquet; nothing else that leaves the machine did.
#[test]
fn labels_are_in_every_export_that_has_a_place_for_them() {
    let program = build(&named("system"), "churn");
    let options = ["--label", "service.name=shop", "--label", "zone=<a&b>"];
    let recorded = Case::new(&program, &["1"]).options(&options).recorded();
    let export = |format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let command = command.args(["export", "--format", format]).arg(&recorded.recording);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{format}: {output:?}");
        output.stdout
    };
    let json: serde_json::Value = serde_json::from_slice(&export("json")).unwrap();
    assert_eq!(json["labels"], serde_json::json!({"service.name": "shop", "zone": "<a&b>"}));
    for format in ["speedscope", "firefox"] {
        let text = String::from_utf8(export(format)).unwrap();
        assert!(text.contains("service.name=shop zone=<a&b>"), "{format}");
    }
    let svg = String::from_utf8(export("svg")).unwrap();
    assert!(svg.contains("service.name=shop · zone=&lt;a&amp;b&gt;"), "{svg:.2000}");
    let mut pprof = Vec::new();
    flate2::read::GzDecoder::new(&export("pprof")[..]).read_to_end(&mut pprof).unwrap();
    let holds = |text: &[u8]| pprof.windows(text.len()).any(|window| window == text);
    assert!(holds(b"service.name=shop") && holds(b"zone=<a&b>"));
}
