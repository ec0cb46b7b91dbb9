//! The commands of `memtrail`: where was this memory allocated, and what retains it?
//!
//! One file (or folder) a subcommand. Each turns its typed arguments once into resolved options,
//! asks the libraries, and prints; nothing is computed here.
#![deny(unsafe_code)]
// They panic where nothing can be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![cfg_attr(test, allow(clippy::print_stderr))]
// Parts that are left out are the only callers of some functions.
#![cfg_attr(
    not(all(feature = "parquet", feature = "ship", feature = "mcp")),
    allow(dead_code, unused_imports)
)]

#[macro_use]
mod message;

mod answer;
#[cfg(target_arch = "x86_64")]
mod attach;
mod cache;
mod canvas;
mod caveats;
mod check;
mod completions;
mod damage;
mod demo;
#[cfg(target_arch = "x86_64")]
mod detach;
mod diff;
mod doctor;
mod error;
mod export;
mod figure_files;
mod heap;
mod html;
mod json;
#[cfg(feature = "parquet")]
mod lake;
mod leaks;
mod limit;
mod loading;
mod man;
mod markdown;
#[cfg(feature = "mcp")]
mod mcp;
mod naming;
mod next_commands;
mod outcome;
mod output;
mod plain_text;
mod problems;
mod process;
mod rates;
mod recording_cache;
mod recording_facts;
mod recording_source;
mod references;
mod report;
mod run;
mod shell_quote;
#[cfg(feature = "ship")]
mod ship;
mod snapshot;
mod snapshot_file;
mod source;
mod spinner;
#[cfg(feature = "parquet")]
mod sql;
mod threads;
mod top;
mod trace;
mod trace_file;
mod types;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

/// Find out where a program's memory was allocated, and what retains it.
///
/// Works on the program you already have: nothing is recompiled or relinked. OCaml 4.11 or later,
/// native code, Linux.
#[derive(Parser)]
#[command(
    name = "memtrail",
    version,
    max_term_width = 100,
    // In all commands below, too. Options that are lists go on collecting.
    args_override_self = true,
    after_help = "\
Find a leak with two commands:
  memtrail run -- ./server --port 80    record it; end it with Ctrl-C once it has grown
  memtrail leaks server-4711.memtrail   name what leaks, what allocated it and what owns it"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    #[cfg(target_arch = "x86_64")]
    Attach(attach::Args),
    #[cfg(target_arch = "x86_64")]
    Detach(detach::Args),
    Check(check::Args),
    Snapshot(snapshot::Args),
    Top(top::Args),
    View(view::Args),
    Leaks(leaks::Args),
    Report(report::Args),
    Html(html::Args),
    Export(export::Args),
    #[cfg(feature = "ship")]
    Ship(ship::Args),
    #[cfg(feature = "parquet")]
    Sql(sql::Args),
    #[cfg(feature = "parquet")]
    Lake(lake::Args),
    Heap(heap::Args),
    Diff(diff::Args),
    Why(heap::why::Args),
    Who(heap::who::Args),
    Types(types::Args),
    Trace(trace::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    Cache(cache::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    KeepSession(run::KeeperArgs),
    #[command(hide = true)]
    WatchGroup(run::GroupArgs),
    #[command(hide = true)]
    WakeUp(run::WakeArgs),
    #[cfg(target_arch = "x86_64")]
    #[command(hide = true)]
    CopyProcess(snapshot::TracerArgs),
}

/// The commands that start with each program, which they make wait: to describe all others takes longer than they do.
#[derive(Parser)]
#[command(name = "memtrail", version, args_override_self = true)]
struct Starting {
    #[command(subcommand)]
    command: StartCommand,
}

#[derive(Subcommand)]
enum StartCommand {
    Run(Box<run::Args>),
    KeepSession(run::KeeperArgs),
    WatchGroup(run::GroupArgs),
    WakeUp(run::WakeArgs),
}

impl From<StartCommand> for Command {
    fn from(command: StartCommand) -> Self {
        match command {
            StartCommand::Run(args) => Self::Run(*args),
            StartCommand::KeepSession(args) => Self::KeepSession(args),
            StartCommand::WatchGroup(args) => Self::WatchGroup(args),
            StartCommand::WakeUp(args) => Self::WakeUp(args),
        }
    }
}

/// Reads the command line. Whatever is to be told of it is told by the description of all commands.
fn parsed() -> Command {
    let starts = |name: std::ffi::OsString| name.to_str().is_some_and(StartCommand::has_subcommand);
    if std::env::args_os().nth(1).is_some_and(starts)
        && let Ok(starting) = Starting::try_parse()
    {
        return starting.command.into();
    }
    Cli::parse().command
}

/// Stack of the thread that works where the main one has a small stack, in bytes.
const STACK: usize = 8 << 20;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    if run::has_stack() {
        return command();
    }
    // A small limit on stacks (`ulimit -s`) is meant for the program; it does not concern a thread's. Signals are the thread's.
    run::block_signals();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        run::unblock_signals();
        command()
    });
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => {
            run::unblock_signals();
            command()
        }
    }
}

/// Printed if no command is given.
const INTRODUCTION: &str = "\
memtrail finds out where a program's memory was allocated, and what retains it.
The program is not recompiled.

  memtrail run -- ./server               record it; end it with Ctrl-C once it has grown
  memtrail leaks server-4711.memtrail    name what leaks, what allocated it and what owns it
  memtrail view server-4711.memtrail     show all of its memory in the browser

Try it without a program: memtrail demo
What works here: memtrail doctor
All commands: memtrail --help";

fn command() -> ExitCode {
    if std::env::args_os().len() == 1 {
        message!("{INTRODUCTION}");
        return ExitCode::from(2);
    }
    let result = match parsed() {
        Command::Run(args) => run::run(&args),
        #[cfg(target_arch = "x86_64")]
        Command::Attach(args) => attach::run(&args),
        #[cfg(target_arch = "x86_64")]
        Command::Detach(args) => detach::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::Top(args) => top::run(&args),
        Command::View(args) => view::run(&args),
        Command::Leaks(args) => leaks::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Html(args) => html::run(&args),
        Command::Export(args) => export::run(&args),
        #[cfg(feature = "ship")]
        Command::Ship(args) => ship::run(&args),
        #[cfg(feature = "parquet")]
        Command::Sql(args) => sql::run(&args),
        #[cfg(feature = "parquet")]
        Command::Lake(args) => lake::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Heap(args) => heap::run(&args),
        Command::Why(args) => heap::why::run(&args),
        Command::Who(args) => heap::who::run(&args),
        Command::Types(args) => types::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Demo(args) => demo::run(&args),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(&args),
        Command::Cache(args) => cache::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
        Command::KeepSession(args) => run::keep_session(&args),
        Command::WatchGroup(args) => run::watch_group(&args),
        Command::WakeUp(args) => run::wake_up(&args),
        #[cfg(target_arch = "x86_64")]
        Command::CopyProcess(args) => snapshot::trace(&args),
    };
    result.unwrap_or_else(|failure| failure.report())
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{ArgAction, Command, CommandFactory as _};

    use super::Cli;

    /// All commands with commands below them left out, as one would type them.
    fn commands(command: &Command, typed: &[String], found: &mut Vec<(Vec<String>, Command)>) {
        let mut typed = typed.to_vec();
        typed.push(command.get_name().to_owned());
        if command.has_subcommands() {
            for below in command.get_subcommands() {
                commands(below, &typed, found);
            }
        } else {
            found.push((typed, command.clone()));
        }
    }

    fn all() -> Vec<(Vec<String>, Command)> {
        let mut found = Vec::new();
        commands(&Cli::command(), &[], &mut found);
        assert!(found.len() > 20);
        found
    }

    /// Repeated options were refused.
    #[test]
    fn the_last_of_repeated_options_wins() {
        let mut tried = 0;
        for (typed, command) in all() {
            for option in command.get_arguments() {
                let Some(name) = option.get_long().map(|name| format!("--{name}")) else {
                    continue;
                };
                let kind_of_error = |values: &[&str]| {
                    let mut words = typed.clone();
                    words.extend(values.iter().map(|value| (*value).to_owned()));
                    Cli::command().try_get_matches_from(words).err().map(|error| error.kind())
                };
                let values: Vec<String> = match option.get_action() {
                    ArgAction::Set => {
                        let known = option.get_possible_values();
                        let known = known.iter().map(clap::builder::PossibleValue::get_name);
                        let made_up = [
                            "1",
                            "60",
                            "1024",
                            "1K",
                            "USR1",
                            "stack",
                            "..",
                            "1s",
                            "1%/min",
                            "5%",
                            "F.*<=1K",
                            "editor://{path}",
                            "a=b",
                            "5.5",
                            "unlimited",
                            "metrics.prom",
                        ];
                        known.chain(made_up).map(|value| format!("{name}={value}")).collect()
                    }
                    ArgAction::SetTrue => vec![name.clone()],
                    _ => continue,
                };
                let fits = |value: &&String| {
                    let wrong = [ErrorKind::ValueValidation, ErrorKind::InvalidValue];
                    kind_of_error(&[value]).is_none_or(|kind| !wrong.contains(&kind))
                };
                let value = values.iter().find(fits).unwrap_or_else(|| panic!("{typed:?} {name}"));
                let twice = kind_of_error(&[value, value]);
                assert_ne!(twice, Some(ErrorKind::ArgumentConflict), "{typed:?} {value}");
                assert_eq!(twice, kind_of_error(&[value]), "{typed:?} {value}");
                tried += 1;
            }
        }
        assert!(tried > 60, "{tried}");
    }

    #[test]
    fn lists_collect_and_single_values_are_the_last() {
        let words = ["memtrail", "html", "--max-size=1K", "--filter=live:end", "x", "--max-size"];
        let words = words.into_iter().chain(["2KiB", "--filter=size:4K"]);
        let matches = Cli::command().try_get_matches_from(words).unwrap();
        let html = matches.subcommand_matches("html").unwrap();
        assert_eq!(html.get_one("max_size"), Some(&memtrail_text::Size(2048)));
        assert_eq!(html.get_many::<String>("filters").unwrap().count(), 2);
    }

    /// 0 was no row in some commands, and all in others.
    #[test]
    fn limit_zero_is_all_rows_everywhere() {
        let mut tried = 0;
        for (typed, command) in all() {
            for option in command.get_arguments() {
                if matches!(option.get_id().as_str(), "limit" | "top") {
                    let help = option.get_help().unwrap().to_string();
                    assert!(help.contains("0 for all"), "{typed:?}: {help}");
                    let parser = option.get_value_parser().type_id();
                    assert_eq!(parser, std::any::TypeId::of::<super::limit::Limit>(), "{typed:?}");
                    tried += 1;
                }
            }
        }
        assert!(tried >= 10, "{tried}");
        assert_eq!("0".parse(), Ok(super::limit::Limit(usize::MAX)));
        assert_eq!("7".parse(), Ok(super::limit::Limit(7)));
    }
}
