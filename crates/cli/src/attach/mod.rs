//! `memtrail attach`: records a program that runs from now on.
//!
//! The agent is loaded into it by one of its threads, at a moment at which that thread is neither in the dynamic linker nor in
//! `malloc`. It is OCaml's agent, or the one for calls of `malloc`. From there on the agent does its work alone, as under `memtrail run`, and memtrail goes away. A process that
//! memtrail leaves behind completes the recording in the end.

mod libc_functions;
mod loading;
mod program_code;
mod ready_thread;
mod subject;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::is_alive;
use memtrail_recording::session::{
    CALLSTACK_DEPTH, Options, Pace, Sampler, SnapshotOptions, State,
};
use serde::Serialize;

use crate::error::{Failure, Kind};
use crate::json;
use crate::run::attached::AttachedSession;
use crate::run::{
    BASE_RATE, DEEPEST, Disk, SHORTEST, SnapshotArgs, labels, parse_rate, within_room,
};
use crate::shell_quote;
use crate::snapshot::find;
use crate::snapshot::live::refusal;
use subject::Subject;

/// Record a program that runs, from now on
///
/// The program is one of the same user that memtrail did not start: a native OCaml program, or with --native one in C, C++ or
/// Rust. It goes on while the agent is loaded into it. `memtrail top`, `snapshot`, `report` and `leaks` then work as for a program
/// that `memtrail run` started, until the program ends or `memtrail detach` ends the recording. Memory that was allocated before is
/// not in the trace; snapshots of OCaml's heap have it. One is taken as the recording begins, if the heap is worth one.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail attach 4711                    makes server-4711.memtrail in the current folder
  memtrail attach $(pidof server) -o leak.memtrail
  memtrail attach --native $(pidof redis-server)   a program in C, C++ or Rust
  memtrail detach 4711                    ends the recording; the program goes on

Cost: as under `memtrail run`, about 1 % of the program's CPU time. While the agent is loaded, one
thread of the program is held for some milliseconds. All domains of OCaml then stop for some more.
After `memtrail detach` the program runs as before; the agent's code stays in its memory.

If memtrail is killed at any moment, the program runs on.")]
pub(crate) struct Args {
    /// The process
    pid: u32,

    #[command(flatten)]
    memory: MemoryArgs,

    /// Samples per word allocated, or the distance between samples: 1e-4, 512KiB. The rate then stays the same [default:
    /// 1e-4, adapted]
    #[arg(long, value_parser = parse_rate)]
    rate: Option<f64>,

    /// The recording's folder; it must not exist yet [default: NAME-PID.memtrail]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Choose the sampler's random numbers
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Maximum number of frames of callstacks that are recorded completely
    #[arg(long, value_name = "FRAMES", default_value_t = CALLSTACK_DEPTH,
          value_parser = clap::value_parser!(u32).range(SHORTEST..=DEEPEST))]
    callstack_depth: u32,

    /// A note kept in the recording, such as the version or the scenario
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,

    /// A label kept in recording.json, such as service.name=shop. May be given several times
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = labels::parse)]
    labels: Vec<(String, String)>,

    /// Disk space for all files of the recording, such as 1GiB, or unlimited. When it fills up, samples of
    /// blocks that died long ago are thinned at random: estimates stay unbiased, the oldest get the largest errors [default: 1GiB; unlimited with --rate]
    #[arg(long, value_name = "SIZE", value_parser = Disk::parse)]
    disk: Option<Disk>,

    /// Check every callstack by a second walk; the recording has the number that differed
    #[arg(long, hide = true)]
    check_callstacks: bool,

    /// Time to wait for the recording to begin: 5, 5s, 1m
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = memtrail_text::duration)]
    wait: Duration,

    /// Print nothing about the recording
    #[arg(short, long)]
    quiet: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    snapshots: SnapshotArgs,
}

/// The memory that is recorded.
#[derive(clap::Args)]
struct MemoryArgs {
    /// Record a program of another language than OCaml: its calls of malloc are sampled from now on, as under `memtrail run
    /// --native`
    #[arg(long)]
    native: bool,

    /// With --native, record what the program maps itself, too: memory and files from mmap, as external blocks
    #[arg(long, requires = "native")]
    mmap: bool,
}

/// Limits of recordings that do not begin with the program. The recording has them as notes.
const NOT_RECORDED: &str = "not recorded: memory allocated before, calls of malloc (--native), exec and _exit; detach the process \
    before it forbids itself system calls (seccomp)";
const NOT_RECORDED_OF_NATIVE: &str = "not recorded: memory allocated before, exec and _exit; detach the process before it forbids \
    itself system calls (seccomp)";
/// Time for the agent to map the session.
const GRACE: Duration = Duration::from_secs(5);
/// Between looks at whether the recording has begun.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(moment) = args.snapshots.only_from_the_start() {
        let message = format_args!("--snapshot {moment} is for programs that memtrail starts");
        return Err(Failure::new(Kind::Usage, message)
            .hint("moments of a program that runs: auto, every-major, request, off"));
    }
    if args.memory.native {
        args.snapshots
            .check_native("--snapshot auto, --snapshot request, --snapshot off or --every 10s")?;
    }
    let options = resolve(args)?;
    let not_there = |failure| refusal::unless_it_ends(args.pid, failure);
    let subject = Subject::find(args.pid, args.memory.native).map_err(not_there)?;
    let session = AttachedSession::create(&options, args.memory.native)?;
    loading::load(&subject, session.library(), session.folder()).map_err(not_there)?;
    let begun = Instant::now();
    let state = loop {
        if let Some(state) = session.state(subject.inner_pid) {
            break Some(state);
        }
        if !is_alive(args.pid) {
            return Err(refusal::no_process(args.pid));
        }
        // `memtrail detach` finds the session by then.
        let is_found = || find::session(args.pid).is_some() || begun.elapsed() > args.wait + GRACE;
        if begun.elapsed() > args.wait && is_found() {
            break None;
        }
        thread::sleep(LOOK);
    };
    let folder = match state {
        Some(State::Recording { folder, .. }) => Some(folder),
        Some(State::Refused { reason, hint }) => return Err(refused(args, &reason, hint)),
        _ => None,
    };
    session.leave_behind();
    announce(args, folder.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// The agent does not record the process.
fn refused(args: &Args, reason: &str, hint: Option<String>) -> Failure {
    let pid = args.pid;
    let failure =
        Failure::new(Kind::Input, format_args!("process {pid} is not recorded: {reason}"));
    // Programs in other languages have no such heap.
    let other = || format!("take heap snapshots of it: memtrail snapshot {pid}");
    match hint.or_else(|| (!args.memory.native).then(other)) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The agent's options.
fn resolve(args: &Args) -> Result<Options, Failure> {
    let here = std::env::current_dir().map_err(|error| {
        Failure::new(Kind::Work, format_args!("cannot tell the current folder: {error}"))
    })?;
    let output = args.output.as_deref().map(|named| here.join(named));
    if let Some(folder) = output.as_deref().filter(|folder| folder.exists()) {
        let message = format_args!("{} exists already", folder.display());
        return Err(Failure::new(Kind::Usage, message)
            .hint("a recording is never overwritten; name a new folder or remove it"));
    }
    let folder = output.as_deref().and_then(Path::parent).unwrap_or(&here);
    let (disk, note) = within_room(Disk::bytes(args.disk, args.rate), folder);
    Ok(Options {
        memtrail: env!("CARGO_PKG_VERSION").into(),
        rate: args.rate.unwrap_or(BASE_RATE),
        pace: if args.rate.is_some() { Pace::Constant } else { Pace::Adaptive },
        decline_samples: false,
        assume_version: None,
        sampler: Sampler::default(),
        output,
        base: here,
        children: false,
        attached: true,
        launcher: std::process::id(),
        runtime_callstacks: false,
        callstack_depth: args.callstack_depth,
        check_callstacks: args.check_callstacks,
        seed: args.seed,
        context: args.context.clone(),
        labels: args.labels.iter().cloned().collect(),
        disk,
        notes: note.filter(|_| args.disk.is_some()).into_iter().collect(),
        malloc: false,
        mappings: args.memory.mmap,
        snapshots: snapshots(args),
    })
}

/// Snapshots that are taken. What refers to memory of a native program is always found on request: nobody can start the program
/// anew with that.
fn snapshots(args: &Args) -> Option<SnapshotOptions> {
    let resolved = args.snapshots.resolve();
    if !args.memory.native {
        return resolved;
    }
    resolved.map(|options| SnapshotOptions { request: true, ..options })
}

/// The output of `--json`.
#[derive(Serialize)]
struct Attached<'a> {
    pid: u32,
    /// `recording`, or `waiting` for the program to go on.
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    recording: Option<&'a Path>,
}

fn announce(args: &Args, folder: Option<&Path>) -> Result<(), Failure> {
    let pid = args.pid;
    if args.json {
        let state = if folder.is_some() { "recording" } else { "waiting" };
        return json::print(&Attached { pid, state, recording: folder });
    }
    if args.quiet {
        return Ok(());
    }
    let not_recorded = if args.memory.native { NOT_RECORDED_OF_NATIVE } else { NOT_RECORDED };
    if let Some(folder) = folder {
        let shown = shell_quote::path(folder);
        message!("memtrail: process {pid} is recorded in {shown}");
        message!("{not_recorded}");
        message!(
            "next: memtrail top {pid}, memtrail report {shown}; end it: memtrail detach {pid}"
        );
    } else {
        message!(
            "memtrail: process {pid} waits in a system call or in C code; its recording begins when it goes on"
        );
        message!("{not_recorded}");
        message!("once it goes on: memtrail top {pid}; end it: memtrail detach {pid}");
    }
    Ok(())
}
