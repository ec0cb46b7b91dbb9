//! `memtrail snapshot`: requests a heap snapshot of a running process, and waits for it.

mod core_file;
pub(crate) mod find;
#[cfg(target_arch = "x86_64")]
pub(crate) mod live;
mod outside;
mod prospects;
mod request;

use std::borrow::Cow;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use memtrail_recording::{Snapshot, SnapshotOutcome};
use memtrail_text::rounded::{bytes, grouped};
use serde::Serialize;

use crate::answer::JsonAnswer;
use crate::error::{Failure, Kind};
use crate::json;
use core_file::CoreArgs;
use find::{Found, Target};
#[cfg(target_arch = "x86_64")]
pub(crate) use live::{TracerArgs, trace};
pub(crate) use prospects::{check_machine, check_process, check_program, resident};
use request::request;
pub(crate) use request::{why_no_requests, write_request};

/// Take a heap snapshot of a running program, or of a core file
///
/// The program pauses for some milliseconds, then goes on while a frozen copy of it is read.
///
/// The snapshot of a program that `memtrail run` started is written into its recording. Any other OCaml program is
/// stopped with ptrace, which needs the same user or root, and the snapshot goes into a new recording that has no
/// trace: `memtrail heap`, `leaks` and `view` read it as any other. With -o, later snapshots are added to it.
///
/// With --core, the heap is read from a core file of an OCaml program that memtrail did not start. The file may come from
/// the kernel, from gdb's gcore or from coredumpctl.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  memtrail snapshot 4711                  the process; its own number, or that of `memtrail run`
  memtrail snapshot server-4711.memtrail  the process that is recorded there
  memtrail snapshot $(pidof server) -o server.memtrail
                                          a process that memtrail did not start; each call adds a snapshot
  memtrail snapshot --core core.4711      a core file; makes server-4711.memtrail
  memtrail snapshot --core core.2 -o server-4711.memtrail
                                          a later core file of the same process, as snapshot 2")]
pub(crate) struct Args {
    /// A process, or the recording it writes; with --core, the executable that ran, if the file is not where it was
    #[arg(value_name = "PID|REC|EXE", required_unless_present = "core")]
    target: Option<PathBuf>,

    /// Core file to read instead of a running process
    #[arg(long, value_name = "CORE")]
    core: Option<PathBuf>,

    /// Recording that the snapshot is written or added to, where memtrail did not start the program [default:
    /// NAME-PID.memtrail]
    #[arg(short, long, value_name = "REC")]
    output: Option<PathBuf>,

    /// Folder with a copy of the files of the machine or container that the core file is from
    #[arg(long, value_name = "DIR", requires = "core")]
    sysroot: Option<PathBuf>,

    /// Keep the contents of strings, where memtrail did not start the program
    #[arg(long)]
    contents: bool,

    /// How long to wait for it: 90, 90s, 5m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = memtrail_text::duration)]
    wait: Duration,

    /// Print one JSON object; times in nanoseconds
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let Some(core) = &args.core {
        return core_file::run(&CoreArgs {
            core,
            executable: args.target.as_deref(),
            sysroot: args.sysroot.as_deref(),
            output: args.output.as_deref(),
            contents: args.contents,
            json: args.json,
        });
    }
    // The parser asks for it.
    let target = args.target.as_deref().unwrap_or(Path::new(""));
    let Target { pid, folder } = match find::target(target)? {
        Found::Recorded(target) => target,
        Found::Foreign { pid, recording } => return foreign(args, pid, recording.as_deref()),
    };
    if args.output.is_some() || args.contents {
        let option = if args.contents { "--contents" } else { "-o" };
        let message = format_args!(
            "{option} is for processes that memtrail did not start; process {pid} writes its \
             snapshots into {}",
            folder.display()
        );
        return Err(Failure::new(Kind::Usage, message)
            .hint(format_args!("leave it out: memtrail snapshot {pid}")));
    }
    let found = request(pid, &folder, args.wait)?;
    let file = folder.join(&found.file);
    let mut out = std::io::stdout().lock();
    if args.json {
        let answer = Answer { pid, path: file.to_string_lossy(), snapshot: &found };
        json::write(&mut out, &answer)?;
    }
    match found.outcome {
        SnapshotOutcome::Complete { pause_ns, bytes: size, blocks, .. } => {
            if !args.json {
                writeln!(
                    out,
                    "{}: {} blocks, {}; the program paused for {:.1} ms",
                    file.display(),
                    grouped(blocks),
                    bytes(size as f64),
                    pause_ns as f64 / 1e6
                )?;
            }
            Ok(ExitCode::SUCCESS)
        }
        SnapshotOutcome::Failed { reason } => Err(not_taken(pid, &reason)),
    }
}

/// Takes a snapshot of the program that a recording is of, and returns its JSON. Programs that memtrail did not start are
/// refused.
pub(crate) fn json_of_recorded(folder: &Path, wait: Duration) -> Result<JsonAnswer, Failure> {
    let Target { pid, folder } = match find::target(folder)? {
        Found::Recorded(target) => target,
        Found::Foreign { pid, .. } => {
            let message = format_args!("process {pid} was not started by memtrail");
            return Err(Failure::new(Kind::Input, message)
                .hint(format_args!("a person may take one: memtrail snapshot {pid}")));
        }
    };
    let found = request(pid, &folder, wait)?;
    if let SnapshotOutcome::Failed { reason } = &found.outcome {
        return Err(not_taken(pid, reason));
    }
    let file = folder.join(&found.file);
    let answer = Answer { pid, path: file.to_string_lossy(), snapshot: &found };
    let value = serde_json::to_value(json::Versioned::new(&answer, None));
    Ok(JsonAnswer { value: value.map_err(std::io::Error::from)?, problems: Vec::new() })
}

fn not_taken(pid: u32, reason: &str) -> Failure {
    Failure::new(Kind::Work, format_args!("no snapshot of process {pid}: {reason}"))
}

/// Takes a snapshot of a process that memtrail did not start.
fn foreign(args: &Args, pid: u32, recording: Option<&Path>) -> Result<ExitCode, Failure> {
    #[cfg(target_arch = "x86_64")]
    return live::run(&live::LiveArgs {
        pid,
        output: args.output.as_deref().or(recording),
        contents: args.contents,
        json: args.json,
    });
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (args, recording);
        let message = format_args!("process {pid} is not recorded");
        Err(Failure::new(Kind::Input, message).hint("start it with: memtrail run -- PROGRAM"))
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    pid: u32,
    path: Cow<'a, str>,
    snapshot: &'a Snapshot,
}
