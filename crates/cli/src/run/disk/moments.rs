//! Moments of a recording's heap snapshots. Their files name the blocks that were alive then.

use std::fs;
use std::path::Path;

use memtrail_recording::{
    Description, SnapshotOutcome, number_of_snapshot, number_of_unfinished_snapshot,
};
use memtrail_trace::Timestamp;

/// The moments, ascending; `None` while one is being written, as its moment is not known yet.
pub(super) fn of(folder: &Path, description: &Description) -> Option<Vec<Timestamp>> {
    let listed = || description.snapshots.iter().flatten();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let number = number_of_snapshot(name);
        let is_known = |number| listed().any(|snapshot| snapshot.number == number);
        if number_of_unfinished_snapshot(name).is_some()
            || number.is_some_and(|number| !is_known(number))
        {
            return None;
        }
    }
    let mut moments: Vec<Timestamp> = listed()
        .filter(|snapshot| matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }))
        .map(|snapshot| Timestamp(snapshot.taken_unix_us))
        .collect();
    moments.sort_unstable();
    Some(moments)
}
