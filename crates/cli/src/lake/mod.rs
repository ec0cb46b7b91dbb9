//! `memtrail lake`: files of a lake, compacted and removed.

mod compact;
mod prune;

use std::process::ExitCode;

use crate::error::Failure;

/// Compact a lake of recordings, or remove old ones
///
/// A lake is the folder of `memtrail export --format parquet`. `memtrail sql` asks it.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Compact(compact::Args),
    Prune(prune::Args),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::Compact(args) => compact::run(args),
        Command::Prune(args) => prune::run(args),
    }
}
