//! What `memtrail report` takes.

use std::path::PathBuf;

use clap::ValueEnum;
use memtrail_profile::sites::By;

use super::when::{self, LiveAt, Range};
use crate::limit::Limit;
use crate::recording_cache::RecordingCache;
use crate::recording_source::Process;

/// Show where memory was allocated, and what of it is still live
///
/// Without options, the call sites whose blocks were live when live memory was largest (the peak). If
/// a program leaks, its peak is near its end and consists of the leak; otherwise the peak shows what
/// it needs memory for. `--live-at end` shows what was never collected.
///
/// For each call site the report shows how much of its memory was never collected, its mean age, when
/// in the run it was allocated (a leak that grows steadily has bars of equal height), and its callers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail report server-4711.memtrail
  memtrail report server-4711.memtrail --live-at end --by function
  memtrail report server-4711.memtrail --live-at end --allocated 10%..90%
        what leaks: allocated neither at the start nor just now, and still live
  memtrail report server-4711.memtrail --allocated ..
        all allocations, live or not: the work of the collector

All sizes are estimates from samples. The figure after ± is the standard error: the true value
is within twice of it in 95 % of cases. Figures from fewer than 20 samples are printed as a 95 %
confidence interval, a–b. Sizes include headers, as in the condition size: of filters
(memtrail view --help).

A module is what precedes the function in its name: Stdlib.List for Stdlib.List.map,
Cache for the anonymous function Cache.fetch.(fun).")]
pub(crate) struct Args {
    /// A recording (a folder NAME.memtrail), a folder of several (NAME.family), or a trace file, ours or
    /// memtrace's
    #[arg(value_name = "REC|TRACE")]
    pub(super) recording: PathBuf,

    #[command(flatten)]
    pub(super) process: Process,

    /// Blocks that were live at a moment: peak, end (never collected), or a time
    ///
    /// Times are seconds since the start (12.5), durations (1m30s), parts of the whole time (50%),
    /// times of day (14:05:30) or dates (2026-11-21T14:05, where you live unless a zone is given).
    /// The default is peak; with --allocated it is none, and all blocks count.
    #[arg(long, value_name = "peak|end|TIME", value_parser = when::live_at)]
    pub(super) live_at: Option<LiveAt>,

    /// Blocks that were allocated between two times, written FROM..TO; either may be left out
    #[arg(long, value_name = "A..B", value_parser = when::range)]
    pub(super) allocated: Option<Range>,

    /// What a place is
    #[arg(long, value_enum, default_value_t = Grouping::Site)]
    pub(super) by: Grouping,

    /// Maximum number of places; 0 for all
    #[arg(long, value_name = "N", default_value = "10")]
    pub(super) limit: Limit,

    /// Print everything as JSON, sizes in bytes, times in seconds
    #[arg(long)]
    pub(super) json: bool,

    /// Print the figures and places as Markdown, for a bug report
    #[arg(long, conflicts_with_all = ["json", "width"])]
    pub(super) markdown: bool,

    /// With --markdown, replace names of the program's own functions, modules and files by pseudonyms, and leave out
    /// the program's name, host and time
    ///
    /// Names of OCaml's and Rust's standard libraries and of the event loops Lwt, Async and Eio stay. A name has the same
    /// pseudonym in every report, so reports can be compared; whoever guesses a name can therefore check the guess.
    #[arg(long, requires = "markdown")]
    pub(super) redact: bool,

    /// Columns to use instead of the terminal's
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    pub(super) width: Option<u16>,

    /// The profile that is read is kept there.
    #[arg(skip)]
    pub(super) cache: RecordingCache,
}

/// What `--by` takes.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Grouping {
    /// Line of a function
    Site,
    /// Function, all its lines together
    Function,
    /// Module, such as Stdlib.List
    Module,
    /// Source file
    File,
}

impl From<Grouping> for By {
    fn from(grouping: Grouping) -> Self {
        match grouping {
            Grouping::Site => Self::Site,
            Grouping::Function => Self::Function,
            Grouping::Module => Self::Module,
            Grouping::File => Self::File,
        }
    }
}
