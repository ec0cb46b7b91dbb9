//! Takes a snapshot: the process is copied at a safepoint and goes on.

use memtrail_recording::{Snapshot, SnapshotOutcome, snapshot_name};

use super::forked_view::write::{WriteJob, write};
use super::safepoint::{Safepoint, answer, next_number};
use super::setting::setting;
use super::writers::{self, Page, Writer};
use crate::malloc::sampled;
use crate::os::clock::monotonic;
use crate::os::errno::keeping_errno;
use crate::os::frozen_copy::fork_snapshot;
use crate::recording::installed::place;
use crate::recording::notes::note_snapshot;
use crate::references::original;

/// Takes a snapshot now. Nothing of the program may run until this returns.
pub(super) fn take(safepoint: &Safepoint<'_>) {
    keeping_errno(|| begin(safepoint));
    answer(safepoint.reason);
}

fn begin(safepoint: &Safepoint<'_>) {
    let (Some(setting), Some(place)) = (setting(), place()) else { return };
    let number = next_number();
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
        note_snapshot(snapshot.clone());
    };
    if !writers::has_room() {
        return fail("too many are being written".into());
    }
    let Some(page) = Page::map() else { return fail("no memory".into()) };
    let original = sampled::are_recorded(setting.target).then(original);
    let mut job = WriteJob { setting, place, page, number, safepoint, taken, original };
    let copied = match &job.original {
        Some(_) => sampled::holding(setting.target, || fork_snapshot(|| write(&job))).ok(),
        None => None,
    };
    let copied = copied.unwrap_or_else(|| {
        job.original = None;
        fork_snapshot(|| write(&job))
    });
    match copied {
        Ok(pid) => {
            page.report_pause(monotonic().saturating_sub(safepoint.stopped_at));
            writers::add(Writer { pid, page, snapshot });
        }
        Err(error) => fail(format!("the process cannot be copied: {error}")),
    }
}
