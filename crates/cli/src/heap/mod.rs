//! `memtrail heap …`: what retains memory, asked of heap snapshots.

mod ask;
mod block;
mod blocks;
mod children;
pub(crate) mod compared;
mod containers;
mod coverage;
mod csv;
pub(crate) mod diff;
mod growth;
pub(crate) mod histogram;
mod info;
pub(crate) mod input;
pub(crate) mod joined;
mod joint;
mod kind_table;
pub(crate) mod named;
mod owners;
pub(crate) mod path;
mod processes;
mod read;
mod retained;
pub(crate) mod roots;
mod shared;
pub(crate) mod sites;
mod snapshot_name;
mod stack;
mod strings;
mod survivors;
pub(crate) mod table;
mod title;
pub(crate) mod who;
pub(crate) mod why;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::Failure;

/// Show what retains memory, from heap snapshots
///
/// Each command takes a recording (a folder NAME.memtrail), of which it reads the last snapshot
/// unless --snapshot names another, or a snapshot file (NNNN.heap). The first command on a snapshot
/// analyses it and leaves the result beside it (NNNN.heap.index, and NNNN.heap.types where types were
/// asked for), so that the others are quick. Of a folder of several processes (NAME.family) the last snapshots
/// of all are read: sums, or an answer for each process, unless --process names one.
///
/// "Retained" is what would be freed if this alone were gone. "Reachable" is all that can be
/// reached from there, whether or not something else reaches it, too. Sizes are those of blocks with
/// their headers; off-heap memory (bigarrays) is reported separately.
#[derive(clap::Args)]
#[command(after_help = "\
Diagnosing high memory use, in this order:
  memtrail heap roots REC               which variables, stacks and finalisers own how much
  memtrail heap growth REC              what grows, if there are several snapshots
  memtrail heap sites REC               which calls allocated what is alive
  memtrail heap survivors REC           … and was, some snapshots ago
  memtrail heap dominators REC          what the roots dominate, by kind
  memtrail heap path REC --kind string  the retaining paths of strings")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Args),
    Roots(roots::Args),
    Joint(joint::Args),
    Growth(growth::Args),
    Diff(diff::Args),
    Sites(sites::Args),
    Survivors(survivors::Args),
    Stack(stack::Args),
    Dominators(children::Args),
    Histogram(histogram::Args),
    Containers(containers::Args),
    Path(path::Args),
    Block(block::Args),
    Blocks(blocks::Args),
    Retained(retained::Args),
    Shared(shared::Args),
    Strings(strings::Args),
    Coverage(coverage::Args),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        Command::Info(args) => info::run(args),
        Command::Roots(args) => roots::run(args),
        Command::Joint(args) => joint::run(args),
        Command::Stack(args) => stack::run(args),
        Command::Survivors(args) => survivors::run(args),
        Command::Shared(args) => shared::run(args),
        Command::Dominators(args) => children::run(args),
        Command::Histogram(args) => histogram::run(args),
        Command::Containers(args) => containers::run(args),
        Command::Path(args) => path::run(args),
        Command::Block(args) => block::run(args),
        Command::Blocks(args) => blocks::run(args),
        Command::Sites(args) => sites::run(args),
        Command::Retained(args) => retained::run(args),
        Command::Strings(args) => strings::run(args),
        Command::Coverage(args) => coverage::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Growth(args) => growth::run(args),
    }
}
