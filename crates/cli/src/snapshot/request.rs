//! Requests a snapshot of a process that is recorded, and waits for it.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::{REQUEST_FILE, Recording, Snapshot, SnapshotReason, is_alive};

use super::find;
use crate::error::{Failure, Kind};
use crate::recording_facts::is_native;

/// Pause between two looks for the snapshot.
const LOOK: Duration = Duration::from_millis(20);

/// Asks a recorded process for a snapshot, and waits for it.
pub(super) fn request(pid: u32, folder: &Path, wait: Duration) -> Result<Snapshot, Failure> {
    let before = snapshots(folder)?.ok_or_else(|| takes_no_requests(pid, folder))?;
    let last = before.iter().map(|snapshot| snapshot.number).max().unwrap_or(0);
    let request = folder.join(REQUEST_FILE);
    write_request(&request).map_err(|error| {
        Failure::new(Kind::Work, format_args!("cannot write {}: {error}", request.display()))
    })?;
    let asked = Instant::now();
    loop {
        thread::sleep(LOOK);
        let all = snapshots(folder)?.unwrap_or_default();
        let answer = |snapshot: &Snapshot| {
            snapshot.number > last && snapshot.reason == SnapshotReason::Request
        };
        if let Some(found) = all.into_iter().find(answer) {
            return Ok(found);
        }
        let ended = !is_alive(pid);
        if ended || asked.elapsed() > wait {
            // Nobody must find it later.
            let _ = fs::remove_file(&request);
            return Err(no_answer(pid, folder, ended, wait));
        }
    }
}

/// The failure for a recorded process that takes no snapshots on request.
pub(super) fn takes_no_requests(pid: u32, folder: &Path) -> Failure {
    let recording = Recording::open(folder).ok();
    let hint = match recording
        .as_ref()
        .map(|recording| (is_native(recording), is_forked(recording)))
    {
        Some((true, true)) => {
            "memtrail run --native --children --snapshot exit takes one at its end"
        }
        Some((true, false)) => "start it with: memtrail run --native --snapshot request -- PROGRAM",
        _ => "start it with: memtrail run -- PROGRAM",
    };
    let failure = Failure::new(Kind::Input, why_no_requests(pid, recording.as_ref()));
    failure.hint(hint)
}

/// Tells why a recorded process takes no snapshots on request.
pub(crate) fn why_no_requests(pid: u32, recording: Option<&Recording>) -> String {
    match recording.map(|recording| (is_native(recording), is_forked(recording))) {
        // A thread of ours takes them, which forked processes do not have.
        Some((true, true)) => {
            format!(
                "process {pid} was forked from a native program, and takes no snapshots while it runs"
            )
        }
        Some((true, false)) => format!("process {pid} was started without --snapshot request"),
        _ => format!("process {pid} was started with --snapshot off"),
    }
}

fn is_forked(recording: &Recording) -> bool {
    recording.description.as_ref().is_some_and(|known| known.forked_from.is_some())
}

/// Snapshots that the recording describes; `None` if none can be taken.
pub(super) fn snapshots(folder: &Path) -> Result<Option<Vec<Snapshot>>, Failure> {
    let recording = Recording::open(folder)?;
    Ok(recording.description.and_then(|description| description.snapshots))
}

/// Leaves the file that asks a process for a snapshot.
pub(crate) fn write_request(file: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(file) {
        Ok(_) => Ok(()),
        // Somebody else is asking, and the answer will be for both.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn no_answer(pid: u32, folder: &Path, ended: bool, wait: Duration) -> Failure {
    if ended {
        return Failure::new(Kind::Work, format_args!("process {pid} ended before its snapshot"));
    }
    if find::is_cut_off(pid, folder) {
        let message = format_args!("process {pid} can no longer reach its recording");
        return Failure::new(Kind::Work, message).hint(
            "it has changed its user or its root folder, and the `memtrail run` that writes for \
             such programs has ended or does not answer",
        );
    }
    Failure::new(
        Kind::Work,
        format_args!("process {pid} did not answer within {} s", wait.as_secs_f64()),
    )
    .hint("it is stopped, or in C code or a loop that does not allocate; --wait waits longer")
}
