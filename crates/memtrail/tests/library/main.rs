//! The OCaml library `memtrail` in real programs: without memtrail it does nothing, under `memtrail
//! run` it does what its interface says.
#![forbid(unsafe_code)]

mod dune;
mod external;
mod giving_way;
mod labels;
mod memtrace;
mod roots;
mod sampling;
mod snapshots;

use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::{self, Contents};
use memtrail_test_support::programs::{self, Program};
use memtrail_test_support::running::{Case, Recorded};

/// A program of `tests/programs` with the library in it, which is built by hand.
fn build(compiler: &str, program: &str) -> Program {
    let library = ["memtrail_stubs.c", "memtrail.mli", "memtrail.ml"];
    programs::build_with(&named(compiler), program, &library)
}

fn case(compiler: &str, program: &str) -> Case {
    Case::new(&build(compiler, program), &[])
}

/// Runs it both ways, which must look the same, and reads the recording.
fn same(compiler: &str, program: &str, options: &[&str]) -> (Recorded, Contents) {
    let recorded = case(compiler, program).options(options).same();
    assert_eq!(recorded.seen.stdout(), "done\n");
    let contents = contents::read(&recorded.recording);
    (recorded, contents)
}
