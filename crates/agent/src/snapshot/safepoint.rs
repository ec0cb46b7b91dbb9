//! The moment of a snapshot: everything holds still.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason, snapshot_name};

use crate::recording::installed::place;
use crate::recording::notes::note_snapshot;

/// Snapshots begun.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Counts from the beginning, for another recording.
pub(super) fn begin_again() {
    NUMBER.store(0, Relaxed);
    IS_LAST_ANSWERED.store(false, Relaxed);
}

/// The number of the snapshot that begins now.
pub(super) fn next_number() -> u64 {
    NUMBER.fetch_add(1, Relaxed) + 1
}

/// Whether the snapshot at the program's end was begun, or refused.
static IS_LAST_ANSWERED: AtomicBool = AtomicBool::new(false);

/// The snapshot with this reason was begun, or refused.
pub(super) fn answer(reason: SnapshotReason) {
    if reason == SnapshotReason::Exit {
        IS_LAST_ANSWERED.store(true, Release);
    }
}

/// Whether the last snapshot is on its way, or will not come.
pub(super) fn is_last_answered() -> bool {
    IS_LAST_ANSWERED.load(Acquire)
}

/// What a snapshot is of.
#[derive(Clone, Copy)]
pub(super) struct Safepoint<'a> {
    pub(super) reason: SnapshotReason,
    /// The program's name for it, if the program asked.
    pub(super) label: Option<&'a str>,
    /// When the program stopped, on the monotonic clock.
    pub(super) stopped_at: u64,
    /// States of all domains that run.
    pub(super) domains: &'a [u64],
}

/// Notes that a snapshot which somebody asked for is not taken.
pub(super) fn refuse(reason: SnapshotReason, why: &str) {
    let Some(place) = place() else { return };
    let number = next_number();
    note_snapshot(Snapshot {
        number,
        file: snapshot_name(number),
        reason,
        label: None,
        taken_unix_us: place.clock.now().0,
        outcome: SnapshotOutcome::Failed { reason: why.into() },
    });
    answer(reason);
}
