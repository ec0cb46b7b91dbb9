//! The process that a user means, and its recording.

use std::fs;
use std::path::{Path, PathBuf};

use memtrail_ptrace::Status as KernelStatus;
use memtrail_recording::relay::RELAY_FILE;
use memtrail_recording::session::{State, Status};
use memtrail_recording::{Recording, TRACE_FILE, is_alive};

use super::live::refusal;
use super::outside::is_of_process;
use crate::error::{Failure, Kind};
use crate::next_commands::ProgramKind;
use crate::recording_source::note_successor;
use crate::run::launcher_of;

/// A process that is recorded.
pub(crate) struct Target {
    pub(crate) pid: u32,
    pub(crate) folder: PathBuf,
}

/// A process, and how its snapshots are taken.
pub(super) enum Found {
    /// The agent is in it.
    Recorded(Target),
    /// memtrail did not start it. If a recording of such snapshots was named, the next one is added to that.
    Foreign { pid: u32, recording: Option<PathBuf> },
}

/// The process that a number or a recording names.
pub(super) fn target(named: &Path) -> Result<Found, Failure> {
    match named.to_str().and_then(|text| text.parse().ok()) {
        Some(pid) if !named.exists() => Ok(match recorded(pid)? {
            Some(target) => Found::Recorded(target),
            None => Found::Foreign { pid, recording: None },
        }),
        _ => of_recording(named),
    }
}

fn of_recording(folder: &Path) -> Result<Found, Failure> {
    let recording = Recording::open(folder)?;
    note_successor(&recording);
    let Some(description) = recording.description else {
        let message = format!("{} is a trace, not a recording", folder.display());
        return Err(Failure::new(Kind::Input, message).hint("name the process or its recording"));
    };
    let pid = description.pid;
    if description.outcome.is_some() || !is_alive(pid) {
        return Err(Failure::new(Kind::Input, format_args!("process {pid} has ended")));
    }
    if is_of_process(&description) {
        return Ok(Found::Foreign { pid, recording: Some(folder.to_path_buf()) });
    }
    if description.ended_unix_us.is_some() {
        let message = format_args!("the recording of process {pid} has ended; the process runs");
        let kind = ProgramKind::of_recorded(&description);
        let hint = match kind.snapshot(pid) {
            Some(snapshot) => format!("take one without a recording: {snapshot}"),
            None => format!("record it again: {}", kind.attach(pid)),
        };
        return Err(Failure::new(Kind::Input, message).hint(hint));
    }
    Ok(Found::Recorded(Target { pid, folder: folder.to_path_buf() }))
}

/// The process of this number, which must be recorded.
pub(crate) fn of_process(pid: u32) -> Result<Target, Failure> {
    recorded(pid)?.ok_or_else(|| {
        if session(pid).is_some() {
            let message = format_args!(
                "the recording of process {pid} has not begun: it waits in a system call or in C code"
            );
            return Failure::new(Kind::Input, message)
                .hint(format_args!("try again once it goes on: memtrail top {pid}"));
        }
        Failure::new(Kind::Input, format_args!("process {pid} is not recorded"))
            .hint(format_args!("record it from now on: {}", ProgramKind::of_process(pid).attach(pid)))
    })
}

/// The recording of a process. `memtrail run` stands for the program that it started; no other process stands for one of its
/// children.
pub(crate) fn recorded(pid: u32) -> Result<Option<Target>, Failure> {
    if !is_alive(pid) {
        return Err(refusal::no_process(pid));
    }
    if is_launcher(pid) {
        return Ok(started_by(pid));
    }
    match own_recording(pid) {
        Ok(found) => Ok(found),
        // The process of another user is not recorded for this one.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => {
            let message = format_args!("cannot look into process {pid}: {error}");
            Err(Failure::new(Kind::Input, message))
        }
    }
}

/// The program that `memtrail run` started, if that is recorded; else the only recorded process below it, which a script
/// may have started.
fn started_by(launcher: u32) -> Option<Target> {
    let mut generation = children(launcher);
    while !generation.is_empty() {
        // A process may have ended in the meantime, and may be another user's.
        let mut found = generation.iter().filter_map(|&pid| own_recording(pid).ok().flatten());
        if let Some(target) = found.next() {
            return found.next().is_none().then_some(target);
        }
        generation = generation.into_iter().flat_map(children).collect();
    }
    None
}

/// The recording of this very process, by the session that it is in, or the trace that agents of older versions have open.
fn own_recording(pid: u32) -> std::io::Result<Option<Target>> {
    let open = open_files(pid)?;
    let inner = KernelStatus::of_process(pid).map_or(pid, |status| status.inner_pid);
    let traces = open.iter().filter(|path| path.ends_with(TRACE_FILE));
    // A forked process has its parent's trace open, too.
    let folder = traces.filter_map(|path| path.parent()).find(|folder| is_of(inner, folder));
    let folder = folder.map(Path::to_path_buf).or_else(|| by_session(pid, inner));
    Ok(folder.map(|folder| Target { pid, folder }))
}

/// True if a process is `memtrail run`, or `memtrail attach`, of a session.
fn is_launcher(pid: u32) -> bool {
    let launcher = session(pid).and_then(|session| launcher_of(&session));
    launcher.is_some()
        && launcher == KernelStatus::of_process(pid).ok().map(|status| status.inner_pid)
}

/// Whether a recording says that it is of this process.
fn is_of(pid: u32, folder: &Path) -> bool {
    let description = Recording::open(folder).ok().and_then(|recording| recording.description);
    description.is_some_and(|description| description.pid == pid)
}

/// What a process has open. Its main thread, by which it is called, may have ended and have nothing.
fn open_files(pid: u32) -> std::io::Result<Vec<PathBuf>> {
    let mut failure = None;
    for task in fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
        match fs::read_dir(task.path().join("fd")) {
            Ok(open) => {
                let links = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
                let files: Vec<_> = links.collect();
                if !files.is_empty() {
                    return Ok(files);
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    failure.map_or(Ok(Vec::new()), Err)
}

/// The recording of a process by the memory that it shares with the launcher, which says where the session is.
/// `inner`: the number that the process has for itself.
fn by_session(pid: u32, inner: u32) -> Option<PathBuf> {
    let session = session(pid)?;
    let all = Status::load_all(&session).ok()?;
    // The last image is what the process is now.
    all.into_iter().rev().filter(|status| status.pid == inner).find_map(|status| {
        match status.state {
            State::Recording { folder, .. } => Some(folder),
            _ => None,
        }
    })
}

/// The session of a process with the agent inside.
pub(crate) fn session(pid: u32) -> Option<PathBuf> {
    // A main thread that has ended has no memory.
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let mut all = tasks.filter_map(|task| fs::read_to_string(task.path().join("maps")).ok());
    let maps = all.find(|maps| !maps.is_empty())?;
    let relay = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    relay.filter(|path| path.ends_with(RELAY_FILE)).find_map(Path::parent).map(Path::to_path_buf)
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>())
        .collect()
}

/// Whether a process can no longer reach its recording by itself: it has another root folder, or is
/// another user than the one whose the recording is.
pub(super) fn is_cut_off(pid: u32, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = fs::read_to_string(format!("/proc/{pid}/status")).ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_whitespace().nth(1)?.parse::<u32>().ok()
    });
    let owner = fs::metadata(folder).map(|folder| folder.uid()).ok();
    let has_right = user == Some(0) || user.is_none() || user == owner;
    !has_right || !has_our_root(pid)
}

/// True if the paths of a process begin in the same folder as ours.
pub(crate) fn has_our_root(pid: u32) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let root = |of: &str| fs::metadata(of).map(|root| (root.dev(), root.ino())).ok();
    root(&format!("/proc/{pid}/root")) == root("/")
}
