//! What `memtrail html --json` prints of the file that was written.

use std::borrow::Cow;
use std::path::Path;

use memtrail_engine::describe::Subsampled;
use serde::Serialize;

use super::fit::Packed;
use super::references;
use super::source_files::PackedSources;

#[derive(Serialize)]
pub(super) struct Written<'a> {
    output: Cow<'a, str>,
    bytes: usize,
    /// Whether the contents of strings are in the file.
    contents: bool,
    /// Whether names were replaced.
    redacted: bool,
    recordings: Vec<WrittenRecording<'a>>,
    /// Only with `--source`.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_files: Option<WrittenSources>,
}

#[derive(Serialize)]
struct WrittenSources {
    /// How many there are.
    of: usize,
    /// How many of them are in the file.
    included: usize,
}

#[derive(Serialize)]
struct WrittenRecording<'a> {
    name: &'a str,
    /// Null where every block is in the file.
    subsampled: Option<Subsampled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshots: Option<WrittenSnapshots>,
    /// Of a recording whose blocks from `malloc` were looked at for references: the number of the snapshot whose references
    /// are in the file, if any are.
    #[serde(skip_serializing_if = "Option::is_none")]
    references_of: Option<u64>,
}

#[derive(Serialize)]
struct WrittenSnapshots {
    of: usize,
    /// Numbers of those that are in the file as a whole.
    included: Vec<u64>,
}

impl<'a> Written<'a> {
    pub(super) fn new(
        path: &'a Path,
        bytes: usize,
        packed: &'a [Packed],
        redacted: bool,
        sources: Option<&PackedSources>,
    ) -> Self {
        let mut snapshots = packed.iter().flat_map(|packed| &packed.snapshots);
        Self {
            output: path.to_string_lossy(),
            bytes,
            contents: snapshots.any(|one| one.is_included() && one.facts.contents),
            redacted,
            recordings: packed.iter().map(WrittenRecording::new).collect(),
            source_files: sources.map(|&PackedSources { files, left_out, .. }| WrittenSources {
                of: files + left_out,
                included: files,
            }),
        }
    }
}

impl<'a> WrittenRecording<'a> {
    fn new(packed: &'a Packed) -> Self {
        let included = packed.snapshots.iter().filter(|one| one.is_included());
        let snapshots = WrittenSnapshots {
            of: packed.snapshots.len(),
            included: included.map(|one| one.facts.number).collect(),
        };
        Self {
            name: &packed.description.name,
            subsampled: packed.description.subsampled,
            snapshots: (snapshots.of > 0).then_some(snapshots),
            references_of: packed.references.as_ref().and_then(references::Packed::snapshot),
        }
    }
}
