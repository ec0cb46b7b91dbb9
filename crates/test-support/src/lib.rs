//! What the tests of several crates share: the OCaml compilers, programs compiled with them, runs with and
//! without `memtrail run`, and readers that are slow and simple.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "a test reads what it uses")]

pub mod compilers;
pub mod contents;
mod each;
pub mod executable;
pub mod inputs;
pub mod models;
pub mod programs;
pub mod running;
pub mod site;
pub mod snapshot;
pub mod traces;
pub mod wakeups;

/// True in `cargo xtask test --all`, where tests that need many runs have all of them.
pub fn is_whole_run() -> bool {
    std::env::var_os("MEMTRAIL_TEST_ALL").is_some()
}
