//! `memtrail trace …`: the trace alone, as memtrace's tools look at it.

mod copy;
mod dump;
mod folded;
mod hotspots;
mod info;
mod input;
mod progress;
mod strip;
mod subsample;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::Failure;

/// Read an allocation trace, or make another one of it
///
/// Each command takes a recording (a folder NAME.memtrail) or a bare trace file, be it ours or
/// memtrace's, of any version. What is damaged is left out and reported on standard error; the exit
/// code is then 3, but what could be read is printed all the same. A recording whose
/// process was killed or still runs may end anywhere; that is no damage.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Args),
    Hotspots(hotspots::Args),
    Folded(folded::Args),
    Dump(dump::Args),
    Subsample(subsample::Args),
    Strip(strip::Args),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::Info(args) => info::run(args),
        Command::Hotspots(args) => hotspots::run(args),
        Command::Folded(args) => folded::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Subsample(args) => subsample::run(args),
        Command::Strip(args) => strip::run(args),
    }
}
