//! Call sites of programs in Rust, which have their standard library and their allocator in them.

use std::path::Path;
use std::process::Command;

use memtrail_test_support::running::Case;

use super::json;

/// The allocator of a program that has one of its own was given as the place that allocated, and `main` as recursive:
/// debug information of lines alone calls Rust's `main` as C's is called.
#[test]
fn an_allocator_of_the_programs_own_is_no_call_site() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/native/own_allocator.rs");
    for debug_information in ["line-tables-only", "full"] {
        let output = Command::new("rustc")
            .args(["--edition", "2024", "--crate-name", "shop", "-O", "-C"])
            .arg(format!("debuginfo={debug_information}"))
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .output()
            .expect("rustc starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let recorded =
            Case::command(&program, &[]).options(&["--native", "--rate", "1"]).recorded();
        assert_eq!(recorded.seen.stdout(), "1000000\n");
        let (found, _) = json(&["report"], &recorded.recording);
        let site = &found["report"]["places"][0];
        assert_eq!((&site["function"], &site["line"]), (&"shop::create".into(), &31.into()));
        let chain = site["callers"][0]["chain"].as_array().expect("callers");
        let of = |name: &str| -> Vec<_> {
            chain.iter().filter(|caller| caller["function"] == name).collect()
        };
        let [main] = of("shop::main")[..] else { panic!("{site:#}") };
        assert_eq!(main["recursive"], false, "{main:#}");
    }
}
