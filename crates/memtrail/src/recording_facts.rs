//! Short answers about a recording, for all commands.

use std::path::Path;

use memtrail_recording::{FileState, Recording};

use crate::snapshot_file;

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
