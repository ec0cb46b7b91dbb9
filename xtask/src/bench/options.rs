//! The options of `cargo xtask bench`.

use clap::{Args, ValueEnum};

/// `cargo xtask bench`.
#[derive(Args)]
pub(crate) struct Options {
    /// Which benchmarks
    #[arg(value_enum, default_values_t = [Part::Overhead, Part::Tools, Part::Snapshot, Part::Viewer])]
    pub(super) parts: Vec<Part>,
    /// Paired runs of each program
    #[arg(long, default_value_t = 9)]
    pub(super) rounds: usize,
    /// Sampling rates to measure
    #[arg(long, value_delimiter = ',', default_values_t = [1e-4, 1e-3, 1e-2])]
    pub(super) rates: Vec<f64>,
    /// Only programs whose name contains this
    #[arg(long)]
    pub(super) only: Option<String>,
    /// Runs of each program of the part `leaks`, in each mode
    #[arg(long, default_value_t = 1)]
    pub(super) seeds: usize,
    /// Modes of the part `leaks`: auto, every-major, exit, off, native, native-every, native-exit
    #[arg(long, value_delimiter = ',')]
    pub(super) modes: Option<Vec<String>>,
    /// Judge the recordings of an earlier run of the part `leaks`, where there are any
    #[arg(long)]
    pub(super) stored: bool,
    /// Judge simulated histories in the part `leaks`, and record nothing
    #[arg(long)]
    pub(super) simulate: bool,
    /// Print JSON, of the part `native`
    #[arg(long)]
    pub(super) json: bool,
    /// Events of the generated trace, in millions
    #[arg(long, default_value_t = 10)]
    pub(super) events: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
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
