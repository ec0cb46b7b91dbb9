//! Programs without symbols.

use std::collections::BTreeSet;
use std::process::Command;

use memtrail_test_support::contents;
use memtrail_test_support::running::Case;

use super::compile;

/// Code without a name counted as a library's: all that `strdup` allocated was of one call site.
#[test]
fn what_libc_allocates_is_of_the_caller_without_a_name() {
    let program = compile("copies_names.c", &[]);
    let folder = tempfile::tempdir().unwrap();
    let stripped = folder.path().join("stripped");
    let mut strip = Command::new("strip");
    assert!(strip.arg("-o").arg(&stripped).arg(&program.path).status().unwrap().success());
    let case = Case::command(&stripped, &[]).options(&["--native", "--rate", "1e-2"]);
    let contents = contents::read(&case.same().recording);
    let innermost = contents.blocks.iter().filter_map(|block| block.stack.first());
    let names: BTreeSet<&str> = innermost.map(String::as_str).collect();
    let of_program = names.iter().filter(|name| name.starts_with("stripped+0x"));
    assert!(of_program.count() >= 2, "{names:?}");
    assert!(!names.contains("strdup"), "{names:?}");
}
