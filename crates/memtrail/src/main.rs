//! `memtrail`: where was this memory allocated, and what keeps it alive?
//!
//! One file (or folder) a subcommand. Each turns its typed arguments once into resolved options,
//! asks the libraries, and prints; nothing is computed here.
#![deny(unsafe_code)]

mod canvas;
mod damage;
mod demo;
mod error;
mod export;
mod heap;
mod html;
mod loading;
mod outcome;
mod output;
mod report;
mod run;
mod snapshot;
mod threads;
mod trace;
mod typed;
mod units;
mod view;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Finds out where a program's memory was allocated, and what of it is still there.
///
/// Works on the program you already have: nothing is recompiled or relinked. OCaml 4.11 to 4.14 and
/// 5.3 or later, native code, Linux.
#[derive(Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "\
Memory grows and nobody knows why? Two commands:
  memtrail run -- ./server --port 80    run it, recorded; Ctrl-C it when it has grown
  memtrail report server-4711.memtrail  where the memory was allocated, what is still live"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Snapshot(snapshot::Args),
    View(view::Args),
    Report(report::Args),
    Html(html::Args),
    Export(export::Args),
    Heap(heap::Args),
    Trace(trace::Args),
    Demo(demo::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::View(args) => view::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Html(args) => html::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Heap(args) => heap::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Demo(args) => demo::run(&args),
    };
    result.unwrap_or_else(|failure| failure.report())
}
