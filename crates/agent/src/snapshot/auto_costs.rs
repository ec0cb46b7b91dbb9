//! Snapshots that came without anybody asking for each, and are there: for the plans that drop some of them.

use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason};

use super::auto::Taken;
use crate::os::lock::Lock;

/// Snapshots that no plan knows yet.
static WRITTEN: Lock<Vec<(SnapshotReason, Taken)>> = Lock::new(Vec::new());

/// A snapshot was written, by a copy that used so many nanoseconds of CPU time.
pub(super) fn written(snapshot: &Snapshot, cost: u64) {
    let Snapshot { reason, number, .. } = *snapshot;
    let SnapshotOutcome::Complete { pause_ns, bytes, .. } = snapshot.outcome else {
        return;
    };
    let is_repeated =
        matches!(reason, SnapshotReason::Auto | SnapshotReason::EveryMajor | SnapshotReason::Above);
    if is_repeated && let Some(mut written) = WRITTEN.try_lock_for() {
        written.push((reason, Taken { number, cost, pause: pause_ns, bytes }));
    }
}

/// Gives those that were written since the last time.
pub(super) fn take() -> Vec<(SnapshotReason, Taken)> {
    WRITTEN.try_lock_for().map(|mut written| std::mem::take(&mut *written)).unwrap_or_default()
}
