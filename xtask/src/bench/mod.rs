//! Benchmarks: what recording costs, what it writes, how fast traces and snapshots are read.
//!
//! Every comparison is paired: the variants of one round run one after the other, and a figure is
//! the median over rounds of that round's ratio. CPU time is what the kernel charged to the
//! process and all its children, the launcher's included.

mod check;
mod cpu;
mod generate;
mod heap;
mod idle;
mod leaks;
mod native;
mod overhead;
mod peer;
mod snapshot;
mod start;
mod statistics;
mod subjects;
mod table;
mod tools;
mod viewer;

use std::path::PathBuf;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::command::{Outcome, repository, run};

/// `cargo xtask bench`.
#[derive(Args)]
pub(crate) struct Options {
    /// Which benchmarks
    #[arg(value_enum, default_values_t = [Part::Overhead, Part::Tools, Part::Snapshot, Part::Viewer])]
    parts: Vec<Part>,
    /// Paired runs of each program
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Sampling rates to measure
    #[arg(long, value_delimiter = ',', default_values_t = [1e-4, 1e-3, 1e-2])]
    rates: Vec<f64>,
    /// Only programs whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Runs of each program of the part `leaks`, in each mode
    #[arg(long, default_value_t = 1)]
    seeds: usize,
    /// Modes of the part `leaks`: auto, every-major, exit, off, native, native-every, native-exit
    #[arg(long, value_delimiter = ',')]
    modes: Option<Vec<String>>,
    /// Judge the recordings of an earlier run of the part `leaks`, where there are any
    #[arg(long)]
    stored: bool,
    /// Judge simulated histories in the part `leaks`, and record nothing
    #[arg(long)]
    simulate: bool,
    /// Print JSON, of the part `native`
    #[arg(long)]
    json: bool,
    /// Events of the generated trace, in millions
    #[arg(long, default_value_t = 10)]
    events: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// CPU time that recording adds, and bytes it writes
    Overhead,
    /// Reading a trace: hotspots, folded, bare iteration
    Tools,
    /// Heap snapshots: the program's pause, writing, bytes
    Snapshot,
    /// The viewer's server: first picture, changes of the filter, bytes, memory
    Viewer,
    /// Heap snapshots: their analysis, within memory and with a quarter of the heap's size
    Heap,
    /// Verdicts of `memtrail check` over 200 runs of each program
    Check,
    /// Verdicts of `memtrail leaks` on the labelled programs of `tests/leaks`
    Leaks,
    /// CPU time of programs that do nothing: the fixed cost of a run and of a child
    Start,
    /// Wakeups of a program that waits
    Idle,
    /// Native programs: CPU time and files, beside gperftools and heaptrack, of Python and rustc, too
    Native,
}

/// Build what is measured, measure, print Markdown.
pub(crate) fn bench(options: &Options) -> Outcome {
    let memtrail = match std::env::var_os("MEMTRAIL") {
        Some(file) => PathBuf::from(file),
        None => built()?,
    };
    if options.parts.contains(&Part::Overhead) {
        overhead::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Tools) {
        tools::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Snapshot) {
        snapshot::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Viewer) {
        viewer::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Heap) {
        heap::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Check) {
        check::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Leaks) {
        leaks::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Start) {
        start::measure(&memtrail, options)?;
    }
    if options.parts.contains(&Part::Idle) {
        idle::measure(&memtrail)?;
    }
    if options.parts.contains(&Part::Native) {
        native::measure(&memtrail, options)?;
    }
    Ok(())
}

/// The binary of this repository.
fn built() -> Outcome<PathBuf> {
    run(Command::new(env!("CARGO")).current_dir(repository()).args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "memtrail",
    ]))?;
    Ok(release_binary("memtrail"))
}

/// Where `cargo build --release` puts a program.
fn release_binary(name: &str) -> PathBuf {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => repository().join("target"),
    };
    target.join("release").join(name)
}

/// A folder for what benchmarks need, kept between runs.
fn scratch() -> Outcome<PathBuf> {
    let dir = crate::command::cache()?.join("bench");
    std::fs::create_dir_all(&dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))?;
    Ok(dir)
}
