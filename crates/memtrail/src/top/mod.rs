//! `memtrail top`: what of a running program grows, on the terminal.
//!
//! | file | subject |
//! |---|---|
//! | `watched` | what is watched: a process, or a family, to which processes come |
//! | `subject` | a recording that is watched, and its process |
//! | `figures` | what is known of it at a moment, all from the engine and `/proc` |
//! | `family` | the same of all processes of a family |
//! | `process` | what the system says of the process |
//! | `table` | figures as rows of text |
//! | `state` | what the user chose: table, order, filter, rows |
//! | `keys` | what a key does to it |
//! | `screen` | both as cells of the terminal |
//! | `terminal` | the terminal's modes, which are restored however this ends |
//! | `session` | looks, draws and waits for keys, until the user has seen enough |
//! | `once` | one table for those who have no terminal |

mod family;
mod figures;
mod keys;
mod once;
mod process;
mod screen;
mod session;
mod state;
mod subject;
mod table;
mod terminal;
mod watched;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::error::Failure;
use crate::heap::sites::By;
use crate::limit::Limit;
use crate::snapshot_file::MemoryArgs;
use crate::view::Serving;
use watched::Watched;

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
    target: PathBuf,

    /// Changes are those of the last so much time: 30s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = memtrail_text::duration)]
    window: Duration,

    /// A row for each what
    #[arg(long, value_enum, default_value = "site")]
    by: By,

    /// Print one table instead of watching
    #[arg(long)]
    once: bool,

    /// Print one JSON object instead of watching; sizes in bytes, times in seconds
    #[arg(long)]
    json: bool,

    /// Maximum number of rows of the table of --once; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    limit: Limit,

    /// Columns of the table of --once, instead of the terminal's
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..))]
    width: Option<u16>,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    serving: Serving,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let watched = Watched::find(&args.target)?;
    let is_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if args.once || args.json || !is_terminal {
        return once::run(watched, args);
    }
    session::run(watched, args)
}
