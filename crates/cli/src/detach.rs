//! `memtrail detach`: ends a recording that `memtrail attach` began. The program goes on.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_ptrace::Status;
use memtrail_recording::is_alive;
use memtrail_recording::session::State;
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::json;
use crate::next_commands::{self, ProgramKind};
use crate::run::attached;
use crate::snapshot::find;
use crate::snapshot::live::refusal;
use crate::spinner::with_spinner;

/// End the recording of a program that `memtrail attach` began
///
/// The program goes on. The sampler stops, the agent's threads end, and code and hooks of the runtime are as before; the agent's
/// code stays in the program's memory without doing anything. The program can be attached again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail detach 4711
  memtrail detach $(pidof server)")]
pub(crate) struct Args {
    /// The process
    pid: u32,

    /// Time to wait for the end of the recording: 10, 10s, 1m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = memtrail_text::duration)]
    wait: Duration,

    /// Print nothing about the recording
    #[arg(short, long)]
    quiet: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Between looks at whether the agent has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Time for the process that memtrail left behind to begin to complete the recording. It looks every half second.
const GRACE: Duration = Duration::from_secs(5);

/// The output of `--json`.
#[derive(Serialize)]
struct Detached<'a> {
    pid: u32,
    /// `detached`, or `waiting` for the program to go on.
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recording: Option<&'a Path>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let pid = args.pid;
    if !is_alive(pid) {
        return Err(refusal::no_process(pid));
    }
    let Some(session) = find::session(pid) else {
        let message = format_args!("process {pid} is not recorded");
        return Err(Failure::new(Kind::Input, message).hint(format_args!(
            "record it from now on: {}",
            ProgramKind::of_process(pid).attach(pid)
        )));
    };
    if !attached::is_attached(&session) {
        let message = format_args!("process {pid} was started by memtrail run");
        return Err(Failure::new(Kind::Input, message)
            .hint("its recording ends with it, and can be read meanwhile: memtrail top"));
    }
    let inner = Status::of_process(pid).map_or(pid, |status| status.inner_pid);
    let recording = match attached::state(&session, inner) {
        Some(State::Recording { folder, .. }) => Some(folder),
        _ => None,
    };
    attached::ask_to_detach(&session).map_err(|error| {
        Failure::new(Kind::Work, format_args!("cannot write into {}: {error}", session.display()))
    })?;
    let begun = Instant::now();
    let is_in = || is_alive(pid) && find::session(pid).as_ref() == Some(&session);
    while is_in() && begun.elapsed() < args.wait {
        thread::sleep(LOOK);
    }
    let is_waiting = is_in();
    if !is_waiting {
        with_spinner("completing the recording".into(), || complete(&session));
    }
    announce(args, is_waiting, recording.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Waits until the recording is complete. Does it itself if the process that memtrail left behind was killed.
fn complete(session: &Path) {
    let begun = Instant::now();
    while session.exists() {
        if begun.elapsed() > GRACE && attached::complete(session.to_owned()) {
            return;
        }
        thread::sleep(LOOK);
    }
}

fn announce(args: &Args, is_waiting: bool, recording: Option<&Path>) -> Result<(), Failure> {
    let pid = args.pid;
    if args.json {
        let state = if is_waiting { "waiting" } else { "detached" };
        return json::print(&Detached { pid, state, recording });
    }
    if args.quiet {
        return Ok(());
    }
    if is_waiting {
        message!(
            "memtrail: process {pid} waits in a system call or in C code; the recording has ended, and the sampler stops when it goes on"
        );
    } else {
        message!("memtrail: process {pid} is not recorded any more");
    }
    if let Some(recording) = recording {
        message!("next: {}", next_commands::after_detach(pid, recording));
    }
    Ok(())
}
