//! Reasons why a process is not copied, with what helps.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use memtrail_ptrace::{Status, StopError};
use memtrail_recording::is_alive;

use super::report::TraceError;
use crate::error::{Failure, Kind};
use crate::run;

/// The failure for a process that is not there: one that has ended leaves no trace of its number.
pub(crate) fn no_process(pid: u32) -> Failure {
    Failure::new(Kind::Input, format_args!("there is no process {pid}"))
        .hint("list the processes that run: pgrep -a NAME")
}

/// Gives the failure, unless the process ends: where it is killed, each call fails in a way of its own.
pub(crate) fn unless_it_ends(pid: u32, failure: Failure) -> Failure {
    if ends(pid) { no_process(pid) } else { failure }
}

/// True if a process has ended or is about to: the kernel takes a moment to take a killed one down.
fn ends(pid: u32) -> bool {
    const LOOKS: u32 = 30;
    (0..LOOKS).any(|_| {
        let has_ended = !is_alive(pid) || are_all_dead(pid);
        if !has_ended {
            thread::sleep(Duration::from_millis(10));
        }
        has_ended
    })
}

/// True if each thread of a process is dead. Those that this process traces stay until it ends.
fn are_all_dead(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let states = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    let mut states = states.peekable();
    let is_dead = |stat: String| {
        let (_, state) = stat.rsplit_once(") ").unwrap_or_default();
        state.starts_with(['Z', 'X'])
    };
    // The kernel may hide threads: then nothing is known of them.
    states.peek().is_some() && states.all(is_dead)
}

/// The failure for a process of which the kernel shows nothing.
pub(super) fn unseen(pid: u32, error: &io::Error) -> Failure {
    unseen_by("snapshot", pid, error)
}

/// The failure of a command for a process of which the kernel shows nothing.
pub(crate) fn unseen_by(command: &str, pid: u32, error: &io::Error) -> Failure {
    match error.kind() {
        _ if !is_alive(pid) => no_process(pid),
        io::ErrorKind::PermissionDenied => not_permitted(command, pid),
        io::ErrorKind::NotFound => {
            Failure::new(Kind::Input, format_args!("process {pid} has no program"))
                .hint("it is a part of the kernel; list processes: pgrep -a NAME")
        }
        _ => Failure::new(Kind::Input, format_args!("cannot look into process {pid}: {error}")),
    }
}

/// The failure of a command for a process whose threads do not stop.
pub(crate) fn of_stop(command: &str, pid: u32, error: StopError) -> Failure {
    of_command(command, pid, &TraceError::from(error))
}

/// The failure for what the tracer reports.
pub(super) fn of(pid: u32, refusal: &TraceError) -> Failure {
    of_command("snapshot", pid, refusal)
}

fn of_command(command: &str, pid: u32, refusal: &TraceError) -> Failure {
    match refusal {
        TraceError::Ended => no_process(pid),
        TraceError::Failed(_) | TraceError::DoesNotStop(_) if ends(pid) => no_process(pid),
        TraceError::NoRuntime(why) => {
            let message =
                format_args!("process {pid} is not recorded, and has no heap to read: {why}");
            Failure::new(Kind::Input, message)
                .hint(format_args!("if it has just started, try again: memtrail snapshot {pid}"))
        }
        TraceError::TracedBy(tracer) => {
            let name = fs::read_to_string(format!("/proc/{tracer}/comm")).unwrap_or_default();
            let message =
                format_args!("process {pid} is traced by process {tracer} ({})", name.trim());
            Failure::new(Kind::Input, message).hint(format_args!(
                "end the tracer, or have gdb detach, and try again: memtrail {command} {pid}"
            ))
        }
        TraceError::NotPermitted => not_permitted(command, pid),
        TraceError::DoesNotStop(thread) => {
            let message = format_args!("thread {thread} of process {pid} does not stop");
            Failure::new(Kind::Work, message).hint(format_args!(
                "it waits in the kernel, for a disk or a child; try again: memtrail {command} {pid}"
            ))
        }
        TraceError::Collects(stops) => {
            let message = format_args!(
                "no snapshot of process {pid}: it moved blocks at each of {stops} stops"
            );
            Failure::new(Kind::Work, message)
                .hint(format_args!("try again: memtrail snapshot {pid}"))
        }
        TraceError::Failed(why) => {
            let message = format_args!("no snapshot of process {pid}: {why}");
            Failure::new(Kind::Work, message)
                .hint(format_args!("write a core file and read that: gcore {pid}"))
        }
    }
}

/// Checks that a process may be traced. The kernel asks the same of who opens its memory, and nothing stops for that.
pub(super) fn check(pid: u32) -> Result<(), Failure> {
    let status = Status::of_process(pid).map_err(|error| unseen(pid, &error))?;
    if status.tracer != 0 {
        return Err(of(pid, &TraceError::TracedBy(status.tracer)));
    }
    match fs::File::open(format!("/proc/{pid}/mem")) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(not_permitted("snapshot", pid))
        }
        Err(error) => Err(unseen(pid, &error)),
    }
}

/// A process of the user that is no child of this one: its parent, or else itself.
pub(super) fn other_process() -> u32 {
    let own = std::process::id();
    let user = run::user_id();
    let parent = Status::of_process(own).map_or(0, |status| status.parent);
    let is_own = Status::of_process(parent).is_ok_and(|status| status.user == user);
    if is_own && parent > 1 { parent } else { own }
}

/// The kernel does not say why: the likeliest reason is named.
fn not_permitted(command: &str, pid: u32) -> Failure {
    let fail = |why: &str| Failure::new(Kind::Input, format_args!("process {pid} {why}"));
    let again = format!("sudo memtrail {command} {pid}");
    let (user, own) = (Status::of_process(pid).map_or(0, |status| status.user), run::user_id());
    if user != own && own != 0 {
        return fail(&format!("belongs to another user (uid {user}, yours is {own})")).hint(again);
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "3" => fail("cannot be looked into: kernel.yama.ptrace_scope is 3, until the next start")
            .hint(format_args!("take snapshots of programs that memtrail starts: memtrail run")),
        scope @ ("1" | "2") if own != 0 => {
            fail(&format!("cannot be looked into: kernel.yama.ptrace_scope is {scope}"))
                .hint(format_args!("{again}, or sudo sysctl kernel.yama.ptrace_scope=0"))
        }
        _ => fail("cannot be looked into: the kernel or the container forbids ptrace").hint(
            "start the container with --cap-add=SYS_PTRACE, or run memtrail on its host as root",
        ),
    }
}
