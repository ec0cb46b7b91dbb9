//! The verdict in one line, for commands that answer another question.

use std::fs;
use std::path::Path;

use memtrail_recording::Recording;

use super::look::look_at;
use crate::heap::joined::RecordingArgs;
use crate::recording_facts;
use crate::snapshot_file;

/// Larger recordings are judged by `memtrail leaks` alone: a command that answers another question is not to wait for it.
const MAX_BYTES: u64 = 64 << 20;

/// The first suspect, or the sentence that says that there is none. `None` of a recording without evidence, and of one that
/// is large or damaged.
pub(crate) fn headline(recording: &Recording) -> Option<String> {
    let snapshots = snapshot_file::of_recording(&recording.path);
    let has_sites = recording_facts::has_malloc(recording) || recording_facts::is_native(recording);
    if snapshots.is_empty() && !has_sites {
        return None;
    }
    let size = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let bytes: u64 = snapshots.iter().map(|(_, path)| size(path)).sum();
    if bytes + size(&recording.trace) > MAX_BYTES {
        return None;
    }
    let which = RecordingArgs::all_of(&recording.path);
    let found = look_at(&which, &recording.path, 1).ok()?;
    if found.partial.is_some() {
        return None;
    }
    let leaks = found.leaks;
    let more = match leaks.left_out {
        0 => String::new(),
        1 => ", and 1 more suspect".to_owned(),
        several => format!(", and {several} more suspects"),
    };
    Some(match leaks.suspects.first() {
        Some(first) => format!("{}{more}", first.heading),
        None => leaks.conclusion.description,
    })
}
