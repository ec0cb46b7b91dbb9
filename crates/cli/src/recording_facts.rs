//! Short answers about a recording, for all commands.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memtrail_engine::describe::Present;
use memtrail_recording::{
    Description, FileState, Recording, SnapshotOutcome, SnapshotReason, cpu_time, is_alive,
    is_this_host, process_age,
};

use crate::snapshot_file;

/// A recording begins at most so long after its process.
const FROM_BEGINNING: Duration = Duration::from_secs(2);

/// True if a program is of another language than OCaml: it frees its memory itself.
pub(crate) fn is_native(recording: &Recording) -> bool {
    recording.description.as_ref().is_some_and(|known| known.runtime.is_native())
}

/// True if the calls of `malloc` of an OCaml program are recorded beside its heap.
pub(crate) fn has_malloc(recording: &Recording) -> bool {
    recording.description.as_ref().is_some_and(|known| known.sampling.malloc_rate.is_some())
}

/// True if the recording may grow.
pub(crate) fn grows(recording: &Recording) -> bool {
    recording.description.as_ref().is_some_and(|d| d.trace.state == FileState::Growing)
}

/// The moment by the time of a recording, if its program runs on this machine.
pub(crate) fn present(recording: &Recording) -> Option<Present> {
    let known = recording.description.as_ref().filter(|_| grows(recording))?;
    if !is_this_host(&known.host) || !is_alive(known.pid) {
        return None;
    }
    let began = Duration::from_micros(known.clock.start_unix_us);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.checked_sub(began)?;
    // Processes that were recorded later have used some before.
    let was_begun = process_age(known.pid).is_some_and(|age| age < now + FROM_BEGINNING);
    let used = cpu_time(known.pid).filter(|_| was_begun);
    Some(Present { seconds: now.as_secs_f64(), cpu_seconds: used.map(|used| used.as_secs_f64()) })
}

/// When the snapshot at the program's end was taken, in seconds since the recording began.
pub(crate) fn exit_snapshot(known: &Description) -> Option<f64> {
    let at_exit = known.snapshots.iter().flatten().rev().find(|snapshot| {
        snapshot.reason == SnapshotReason::Exit
            && matches!(snapshot.outcome, SnapshotOutcome::Complete { .. })
    })?;
    let since = at_exit.taken_unix_us.checked_sub(known.clock.start_unix_us)?;
    Some(Duration::from_micros(since).as_secs_f64())
}

/// True if the file is a heap snapshot, not a trace.
pub(crate) fn is_snapshot_alone(recording: &Recording) -> bool {
    recording.description.is_none() && snapshot_file::is_snapshot(&recording.trace)
}

/// True if it has no trace, or one without any block as none could be recorded.
pub(crate) fn lacks_trace(recording: &Recording) -> bool {
    let known = recording.description.as_ref();
    is_snapshot_alone(recording) || known.is_some_and(|known| known.sampling.impossible.is_some())
}

/// The folder's or file's own name, whatever way leads to it.
pub(crate) fn name(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
