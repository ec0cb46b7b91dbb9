//! The program `memtrail`. Its commands are in `memtrail-cli`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// The static binary has its own, as the analysis of heaps allocates on all processors.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    memtrail_cli::main()
}
