//! `memtrail doctor`: whether a program can be recorded, read while it runs, and named; and the way out where not.

mod ability;
mod draw;
mod machine;
mod process;
mod program;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use crate::answer::{OutputArgs, put};
use crate::canvas::Canvas;
use crate::error::Failure;
use ability::Ability;
use machine::Machine;
use process::ProcessFacts;
use program::ProgramFacts;

/// Check what memtrail can do here, for a program or for a process
///
/// Looks at the machine, and at the program or process if one is named. Shows for each of `run`, `run --native`, `snapshot PID`,
/// names and types of variables, and source lines whether it will work, and what to do if it will not. Nothing is
/// started or stopped.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail doctor              this machine alone
  memtrail doctor ./server     a program that is to be recorded
  memtrail doctor 4711         a process that runs
  memtrail doctor --json ./server

The exit code is 0 whatever is found.")]
pub(crate) struct Args {
    /// A program, by its path or its name on PATH, or the number of a process
    #[arg(value_name = "PROGRAM|PID")]
    subject: Option<OsString>,

    #[command(flatten)]
    form: OutputArgs,
}

/// The answer.
#[derive(Serialize)]
struct Diagnosis {
    machine: Machine,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<ProgramFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<ProcessFacts>,
    abilities: Vec<Ability>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let machine = Machine::look();
    let mut diagnosis = Diagnosis { machine, program: None, process: None, abilities: Vec::new() };
    match &args.subject {
        None => diagnosis.abilities = machine::abilities(),
        Some(subject) => {
            if let Some(pid) = pid(subject) {
                let facts = ProcessFacts::look(pid)?;
                let file = PathBuf::from(format!("/proc/{pid}/exe"));
                diagnosis.abilities.push(process::snapshot(pid));
                // The kernel shows a process's file to its user and root alone.
                if let Ok(path) = std::fs::read_link(&file) {
                    let program = ProgramFacts::look(&file, path);
                    diagnosis.abilities.extend(program::names(&program, &file));
                    diagnosis.program = Some(program);
                }
                diagnosis.process = Some(facts);
            } else {
                let file = program::find(subject)?;
                let program = ProgramFacts::look(&file, file.clone());
                diagnosis.abilities = program::abilities(&program, &file);
                diagnosis.program = Some(program);
            }
        }
    }
    put(&args.form, None, &diagnosis, |canvas| draw(canvas, &diagnosis))
}

/// The number of a process; files of such a name are meant by `./4711`.
fn pid(subject: &OsStr) -> Option<u32> {
    subject.to_str()?.parse().ok().filter(|_| !Path::new(subject).exists())
}

fn draw(canvas: &mut Canvas, diagnosis: &Diagnosis) {
    diagnosis.machine.draw(canvas);
    if let Some(program) = &diagnosis.program {
        program.draw(canvas);
    }
    if let Some(process) = &diagnosis.process {
        process.draw(canvas);
    }
    draw::abilities(canvas, &diagnosis.abilities);
}
