//! What a recording's description says beside the figures: notes, and the snapshots that were taken.

use memtrail_recording::Snapshot;

use crate::os::errno::keeping_errno;
use crate::recording::impossible::{impossible, nothing_recorded, set_impossible};
use crate::recording::installed::own;

/// Notes in plain words what readers of the recording should know.
pub(crate) fn note(words: String) {
    let Some(recorder) = own() else { return };
    let Some(mut description) = recorder.description.try_lock_for() else { return };
    description.notes.push(words);
    let _ = recorder.files.folder.save(&description);
}

/// Notes that allocations cannot be recorded, here and in forked children.
pub(crate) fn without_sampling(reason: String) {
    set_impossible(reason);
    let Some(recorder) = own() else { return };
    let Some(mut description) = recorder.description.try_lock_for() else { return };
    description.sampling.impossible = impossible();
    description.notes.extend(nothing_recorded());
    let _ = recorder.files.folder.save(&description);
}

/// Notes that nobody can have heap snapshots.
pub(crate) fn without_snapshots() {
    let Some(recorder) = own() else { return };
    let Some(mut description) = recorder.description.try_lock_for() else { return };
    description.snapshots = None;
    let _ = recorder.files.folder.save(&description);
}

/// Drops a snapshot that is whole: its files, and what the recording says of it.
pub(crate) fn forget_snapshot(number: u64) {
    let Some(recorder) = own() else { return };
    keeping_errno(|| {
        let Some(mut description) = recorder.description.try_lock_for() else { return };
        if let Some(all) = &mut description.snapshots {
            all.retain(|snapshot| snapshot.number != number);
        }
        // Nobody is to find it in the list once it is gone.
        if recorder.files.folder.save(&description).is_ok() {
            recorder.files.folder.drop_snapshot(number);
        }
    });
}

/// Notes a snapshot in the recording.
pub(crate) fn note_snapshot(snapshot: Snapshot) {
    let Some(recorder) = own() else { return };
    keeping_errno(|| {
        let Some(mut description) = recorder.description.try_lock_for() else { return };
        let all = description.snapshots.get_or_insert_default();
        all.push(snapshot);
        all.sort_by_key(|snapshot| snapshot.number);
        // The snapshot itself is there, whether it is listed or not.
        let _ = recorder.files.folder.save(&description);
    });
}
