//! The OCaml library `memtrail` in real programs: without memtrail it does nothing, under `memtrail
//! run` it does what its interface says.
#![forbid(unsafe_code)]

#[path = "../agent/compilers.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod compilers;
#[path = "../agent/contents.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod contents;
#[path = "../agent/each.rs"]
mod each;
#[path = "../snapshot/heap.rs"]
#[allow(dead_code, reason = "shared with the snapshots' tests")]
mod heap;
#[path = "../agent/programs.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod programs;
#[path = "../agent/running.rs"]
#[allow(dead_code, reason = "shared with the agent's tests")]
mod running;

mod dune;
mod external;
mod giving_way;
mod labels;
mod large_reports;
mod memtrace;
mod roots;
mod sampling;
mod snapshots;

pub(crate) use each::on_each;

use compilers::named;
use contents::Contents;
use programs::Program;
use running::{Case, Recorded};

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
