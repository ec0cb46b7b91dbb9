//! C++'s operators `new` and `delete`, with libstdc++'s definitions and with those of other allocators, from Debian.
//!
//! `cargo xtask setup` brings them.

use std::path::{Path, PathBuf};

use memtrail_test_support::contents;
use memtrail_test_support::running::Case;

use crate::{Program, bytes, compile};

const OPERATORS: [&str; 13] = [
    "by_new",
    "by_new_array",
    "by_nothrow",
    "by_array_nothrow",
    "by_aligned",
    "by_array_aligned",
    "by_aligned_nothrow",
    "by_array_aligned_nothrow",
    "by_sized",
    "by_array_sized",
    "by_sized_aligned",
    "by_array_sized_aligned",
    "by_malloc",
];

fn exact(program: &Program, arguments: &[&str]) -> Case {
    Case::command(&program.path, arguments).options(&["--native", "--rate", "1"])
}

/// Bytes that were allocated by each, and those that were not freed. libstdc++ rounds sizes of aligned blocks up.
fn expected(function: &str) -> (u64, u64) {
    if function.contains("aligned") { (102_400, 51_200) } else { (100_000, 50_000) }
}

/// A library of Debian's.
pub(crate) fn library(name: &str) -> PathBuf {
    let folder = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let path = Path::new(&folder).join(name);
    assert!(path.exists(), "{} is missing: cargo xtask setup installs it", path.display());
    path
}

/// Each operator's blocks are there once, and so is what was freed of them.
fn are_recorded(allocator: Option<&str>, linked: bool, arguments: &[&str]) {
    let allocator = allocator.map(library);
    let linked_with = allocator.as_ref().filter(|_| linked).map(|path| path.to_str().unwrap());
    let options: Vec<&str> = linked_with.into_iter().chain(["-std=c++17"]).collect();
    let program = compile("operators.cc", &options);
    let mut case = exact(&program, arguments);
    if let Some(path) = allocator.as_ref().filter(|_| !linked) {
        case = case.variable("LD_PRELOAD", path.to_str().unwrap());
    }
    let recorded = case.same();
    assert_eq!(recorded.seen.status.code(), Some(7));
    let contents = contents::read(&recorded.recording);
    for function in OPERATORS {
        assert_eq!(bytes(&contents, function), expected(function), "{function}, {allocator:?}");
        let block = contents.inside(function).next().unwrap();
        assert_eq!(block.stack.get(..2), Some(&[function.to_owned(), "main".into()][..]));
    }
    // What could not be had is not counted.
    assert!(bytes(&contents, "fails").0 < 10_000, "{allocator:?}");
}

#[test]
fn operators_of_cpps_own_library() {
    are_recorded(None, false, &[]);
}

#[test]
fn operators_of_jemalloc() {
    are_recorded(Some("libjemalloc.so.2"), false, &[]);
    are_recorded(Some("libjemalloc.so.2"), true, &[]);
}

#[test]
fn operators_of_tcmalloc() {
    are_recorded(Some("libtcmalloc_minimal.so.4"), false, &[]);
    are_recorded(Some("libtcmalloc.so.4"), true, &[]);
}

/// Its operators end the program where there is no memory: it is compiled as C.
#[test]
fn operators_of_mimalloc() {
    are_recorded(Some("libmimalloc.so.2"), false, &["enough"]);
    are_recorded(Some("libmimalloc.so.2"), true, &["enough"]);
}

/// A program in C loads a library in C++, and C++'s own with it: no definition of the operators comes after ours.
#[test]
fn operators_of_a_library_that_is_loaded_later() {
    let plugin = compile("operators.cc", &["-std=c++17", "-shared", "-fPIC", "-Dmain=run"]);
    let program = compile("loads.c", &["-ldl"]);
    let recorded = exact(&program, &[plugin.path.to_str().unwrap()]).same();
    assert_eq!(recorded.seen.status.code(), Some(7));
    let contents = contents::read(&recorded.recording);
    for function in OPERATORS {
        assert_eq!(bytes(&contents, function), expected(function), "{function}");
    }
}

const REPLACED: [&str; 7] =
    ["NONE", "NEW", "NEW_ARRAY", "DELETE", "DELETE_ARRAY", "DELETE_SIZED", "NEW_NOTHROW"];

/// What a program allocates that replaces operators, in blocks and bytes.
fn allocated_by(program: &Program) -> (usize, u64) {
    let recorded = exact(program, &[]).same();
    let contents = contents::read(&recorded.recording);
    let blocks = || contents.inside("use");
    (blocks().count(), blocks().map(|block| block.samples * 8).sum())
}

/// libstdc++'s operators call each other, and so those that the program replaces. It prints how often its own are called.
#[test]
fn a_program_that_replaces_some_operators() {
    let allocated = REPLACED.map(|replaced| {
        let replaced = format!("-D{replaced}");
        allocated_by(&compile("replaces.cc", &["-std=c++17", &replaced]))
    });
    assert_eq!(allocated[0].0, 12_011);
    assert!(allocated.iter().all(|other| *other == allocated[0]), "{allocated:?}");
}

#[test]
fn a_library_that_replaces_some_operators() {
    let allocated = REPLACED.map(|replaced| {
        let options = ["-std=c++17", "-DLIBRARY", "-shared", "-fPIC", &format!("-D{replaced}")];
        let library = compile("replaces.cc", &options);
        let path = library.path.to_str().unwrap();
        allocated_by(&compile("replaces.cc", &["-std=c++17", "-DPROGRAM", path]))
    });
    assert!(allocated.iter().all(|other| *other == allocated[0]), "{allocated:?}");
}
