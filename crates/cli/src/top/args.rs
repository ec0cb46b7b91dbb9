//! Arguments of `memtrail top`.

use std::path::PathBuf;
use std::time::Duration;

use crate::heap::sites::By;
use crate::limit::Limit;
use crate::snapshot_file::MemoryArgs;
use crate::view::Serving;

/// Watch what grows in a running program
///
/// Shows on the terminal, while the program runs, how much of what each call allocated is live, and by how
/// much that has changed; what each variable, stack and finaliser owns, from the newest heap snapshot; and
/// what the collector does. Figures by call are estimates, with their standard error after ±; those of owners
/// are exact. Of a program with its children (`memtrail run --children`), sums over all processes are shown and
/// a list of them; processes that begin later join it.
///
/// Without a terminal, and with --once or --json, the figures of the moment are printed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail top 4711                  the process; its own number, or that of `memtrail run`
  memtrail top server-4711.memtrail  the process that is recorded there
  memtrail top make-4711.family      a program and its children: sums, and each process
  memtrail top 4711 --once           one table

Keys: s takes a heap snapshot, v opens the viewer, / filters, ? lists all keys, q ends.")]
pub(crate) struct Args {
    /// A process, the recording it writes, or the folder of a program with its children (NAME.family)
    #[arg(value_name = "PID|REC|FAMILY")]
    pub(super) target: PathBuf,

    /// Changes are those of the last so much time: 30s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = memtrail_text::duration)]
    pub(super) window: Duration,

    /// A row for each what
    #[arg(long, value_enum, default_value = "site")]
    pub(super) by: By,

    /// Print one table instead of watching
    #[arg(long)]
    pub(super) once: bool,

    /// Print one JSON object instead of watching; sizes in bytes, times in seconds
    #[arg(long)]
    pub(super) json: bool,

    /// Maximum number of rows of the table of --once; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub(super) limit: Limit,

    /// Columns of the table of --once, instead of the terminal's
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    pub(super) width: Option<u16>,

    #[command(flatten)]
    pub(super) memory: MemoryArgs,

    #[command(flatten)]
    pub(super) serving: Serving,
}
