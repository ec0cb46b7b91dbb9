//! OCaml programs under `memtrail run --native=also`: their heap, and their calls of malloc, in one recording.

mod leaks;
mod references;
mod requests;
mod unharmed;

use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{self, Block, Contents};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{Program, build_with};
use memtrail_test_support::running::Case;
use memtrail_trace::Source;

fn program(compiler: &str) -> Program {
    build_with(&named(compiler), "whole", &["whole_stubs.c"])
}

fn exact(compiler: &str) -> Contents {
    let case = Case::new(&program(compiler), &[]).options(&["--native=also", "--rate", "1"]);
    contents::read(&case.same().recording)
}

/// Blocks from malloc with a function of that name on their stack.
fn outside<'a>(contents: &'a Contents, function: &'a str) -> Vec<&'a Block> {
    contents.inside(function).filter(|block| block.source == Source::External).collect()
}

/// Bytes of these blocks, and those that were not freed.
fn bytes(blocks: &[&Block]) -> (u64, u64) {
    let sum = |blocks: &mut dyn Iterator<Item = &&Block>| blocks.map(|block| block.words * 8).sum();
    (sum(&mut blocks.iter()), sum(&mut blocks.iter().filter(|block| block.collected.is_none())))
}

on_each!(what_a_stub_does_not_free_is_found_by_name, |compiler| {
    let contents = exact(compiler);
    let blocks = outside(&contents, "new_entry");
    assert_eq!(bytes(&blocks), (5000 * 208, 5000 * 208));
    let innermost: Vec<_> = blocks[1].stack.iter().take(4).map(String::as_str).collect();
    assert_eq!(innermost, ["new_entry", "whole_remember", "Whole.add_entry", "Whole.step"]);
    assert!(blocks[0].places[0].contains("whole_stubs.c:"), "{:?}", blocks[0].places);
    assert!(blocks[0].places[2].ends_with("whole.ml:18"), "{:?}", blocks[0].places);
    // All that leads to OCaml's first function is left out, as of OCaml's own blocks.
    let outermost = |blocks: &[&Block]| {
        let mut names: Vec<_> = blocks.iter().filter_map(|b| b.stack.last().cloned()).collect();
        names.dedup();
        names
    };
    let inside: Vec<_> =
        contents.inside("Whole.step").filter(|b| b.source != Source::External).collect();
    assert_eq!(outermost(&blocks), outermost(&inside));
    // C's functions between OCaml's are there.
    let through_c = |block: &&&Block| block.stack.iter().any(|f| f == "whole_call_back");
    assert_eq!(blocks.iter().filter(through_c).count(), 2500);
    let freed = outside(&contents, "whole_measure");
    assert_eq!((freed.len(), bytes(&freed)), (5000, (5_000_000, 0)));
});

on_each!(bigarrays_are_found_by_name_and_are_there_once, |compiler| {
    let contents = exact(compiler);
    let pages = |function, size: u64| {
        let blocks = outside(&contents, function);
        let data: Vec<_> = blocks.into_iter().filter(|block| block.words == size / 8).collect();
        assert_eq!(data.len(), 500, "{function}");
        bytes(&data)
    };
    assert_eq!(pages("Whole.add_page", 4096), (500 * 4096, 500 * 4096));
    assert_eq!(pages("Whole.drop_page", 2048), (500 * 2048, 0));
});

on_each!(memory_of_ocaml_s_heap_is_not_memory_from_malloc, |compiler| {
    let contents = exact(compiler);
    // Chunks and large blocks are of 3 MB and more; C allocates nothing of that size.
    let large = |block: &&Block| block.words * 8 >= 1_000_000;
    let outside: Vec<_> = contents
        .blocks
        .iter()
        .filter(|block| block.source == Source::External)
        .filter(large)
        .map(|block| (block.words, &block.stack))
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
    let inside = contents.blocks.iter().filter(|b| b.source != Source::External);
    assert_eq!(inside.filter(large).count(), 8);
    // OCaml's own blocks are as without.
    let alone = Case::new(&program(compiler), &[]).options(&["--rate", "1"]).recorded();
    let alone = contents::read(&alone.recording);
    let words = |contents: &Contents| -> u64 {
        let blocks = contents.inside("Whole.step").filter(|b| b.source != Source::External);
        blocks.map(|block| block.words + 1).sum()
    };
    assert_eq!(words(&contents), words(&alone));
});

on_each!(samples_estimate_the_same, |compiler| {
    let options = ["--native=also", "--rate", "0.01", "--seed", "7"];
    let case = Case::new(&program(compiler), &[]).options(&options);
    let contents = contents::read(&case.same().recording);
    contents.expect_words("new_entry", 5000.0 * 26.0);
    contents.expect_words("whole_measure", 5000.0 * 125.0);
    let words = |function| -> f64 {
        outside(&contents, function).iter().map(|b| b.samples as f64 / contents.rate).sum()
    };
    // Besides the data, what malloc gives for counting references to it.
    let pages = words("Whole.add_page");
    assert!((pages / (500.0 * 512.0) - 1.0).abs() < 0.2, "{pages}");
});

// In 5.x a local function allocates them, to which the runtime's exported one jumps.
on_each!(tables_of_references_are_memory_of_ocaml_s_heap, |compiler| {
    let contents = exact(compiler);
    for function in ["realloc_generic_table", "alloc_generic_table", "caml_alloc_custom_table"] {
        assert_eq!(outside(&contents, function).len(), 0, "{function}");
    }
});

/// The rate of memory from malloc is lower than that of the heap, and what each block stands for is known.
#[test]
fn at_the_default_rate_malloc_has_a_rate_of_its_own() {
    let case = Case::new(&program("system"), &[]).options(&["--native=also"]);
    let recorded = case.same();
    let contents = contents::read(&recorded.recording);
    let rate = contents.description.sampling.malloc_rate.expect("it is recorded");
    assert!((rate - 1e-4 / 8.0).abs() < 1e-12, "{rate}");
    let samples = contents.blocks.iter().filter(|block| block.source == Source::External);
    assert!(samples.map(|block| block.samples).all(|samples| samples.is_multiple_of(8)));
    let rates = std::fs::read_to_string(recorded.recording.join("rates")).unwrap();
    assert!(
        rates.lines().any(|line| line == "r 1023 0 3" || line.starts_with("r 1023 ")),
        "{rates}"
    );
}

#[test]
fn a_report_says_what_external_is() {
    let case = Case::new(&program("system"), &[]).options(&["--native=also", "--rate", "0.01"]);
    let recorded = case.recorded();
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .arg("report")
        .arg(&recorded.recording)
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("external is memory from malloc until it is freed"), "{text}");
    assert!(text.contains("new_entry"), "{text}");
}

/// Bigarrays, a stub's blocks, and what the runtime has: the row of malloc is all of it.
#[test]
fn the_row_of_malloc_is_split_by_who_allocated() {
    for compiler in ["system", "ocaml-5.3.0"] {
        let case = Case::new(&program(compiler), &[]).options(&["--native=also", "--rate", "0.01"]);
        let recorded = case.recorded();
        let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .args(["report", "--json"])
            .arg(&recorded.recording)
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let memory = &report["memory"];
        let row = |row: &&serde_json::Value| row["part"] == "malloc-used";
        let row = memory["rows"].as_array().unwrap().iter().find(row).unwrap();
        let malloc = &memory["malloc"];
        let allocators = malloc["allocators"].as_array().unwrap();
        let sum: u64 = allocators.iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum + malloc["rest"].as_u64().unwrap()), row["bytes"].as_u64());
        let sites = |name: &str| {
            let part = allocators.iter().find(|part| part["allocator"] == name).unwrap();
            let sites = part["sites"].as_array().unwrap().iter();
            sites.map(|s| s["site"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(
            sites("ocaml").iter().any(|s| s.starts_with("Whole.add_page (whole.ml:")),
            "{malloc:#}"
        );
        assert!(sites("native")[0].starts_with("new_entry (whole_stubs.c:"), "{malloc:#}");
    }
}
