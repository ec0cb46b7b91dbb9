//! Snapshots that came by themselves and are there, for the plan of the next ones.

use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason};

use super::auto::Taken;
use crate::os::lock::Lock;

/// Those that the plan does not know yet.
static WRITTEN: Lock<Vec<Taken>> = Lock::new(Vec::new());

/// A snapshot was written, by a copy that used so many nanoseconds of CPU time.
pub(super) fn written(snapshot: &Snapshot, cost: u64) {
    let SnapshotOutcome::Complete { pause_ns, bytes, .. } = snapshot.outcome else {
        return;
    };
    if snapshot.reason == SnapshotReason::Auto
        && let Some(mut written) = WRITTEN.try_lock_for()
    {
        written.push(Taken { number: snapshot.number, cost, pause: pause_ns, bytes });
    }
}

/// Gives those that were written since the last time.
pub(super) fn take() -> Vec<Taken> {
    WRITTEN.try_lock_for().map(|mut written| std::mem::take(&mut *written)).unwrap_or_default()
}
