//! The moment of a snapshot: everything holds still, the process is copied and goes on.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason, snapshot_name};

use super::fork::fork_snapshot;
use super::writers::{self, Page, Writer};
use super::{forked_view, setting};
use crate::os::clock::monotonic;
use crate::os::ffi_guard;
use crate::recording::recorder;

/// Snapshots begun.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Counts from the beginning, for another recording.
pub(super) fn begin_again() {
    NUMBER.store(0, Relaxed);
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
    let Some(place) = recorder::place() else { return };
    let number = NUMBER.fetch_add(1, Relaxed) + 1;
    recorder::note_snapshot(Snapshot {
        number,
        file: snapshot_name(number),
        reason,
        label: None,
        taken_unix_us: place.clock.now().0,
        outcome: SnapshotOutcome::Failed { reason: why.into() },
    });
}

/// Takes a snapshot now. Nothing of the program may run until this returns.
pub(super) fn take(safepoint: &Safepoint<'_>) {
    ffi_guard::keeping_errno(|| {
        let (Some(setting), Some(place)) = (setting(), recorder::place()) else { return };
        let number = NUMBER.fetch_add(1, Relaxed) + 1;
        let taken = place.clock.now().0;
        let mut snapshot = Snapshot {
            number,
            file: snapshot_name(number),
            reason: safepoint.reason,
            label: safepoint.label.map(str::to_owned),
            taken_unix_us: taken,
            outcome: SnapshotOutcome::Failed { reason: String::new() },
        };
        let mut fail = |reason: String| {
            snapshot.outcome = SnapshotOutcome::Failed { reason };
            recorder::note_snapshot(snapshot.clone());
        };
        if !writers::has_room() {
            return fail("too many are being written".into());
        }
        let Some(page) = Page::map() else { return fail("no memory".into()) };
        let job = forked_view::WriteJob { setting, place, page, number, safepoint, taken };
        match fork_snapshot(|| forked_view::write(&job)) {
            Ok(pid) => {
                writers::tell_pause(page, monotonic().saturating_sub(safepoint.stopped_at));
                writers::add(Writer { pid, page, snapshot });
            }
            Err(error) => fail(format!("the process cannot be copied: {error}")),
        }
    });
}
