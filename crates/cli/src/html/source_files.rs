//! The source files that a page needs, as far as there is room.

use memtrail_engine::{Engine, Setting, SourceFiles as _, SourcesInMemory};
use memtrail_recording::Recording;

use super::gzip::gzip;
use crate::error::Failure;
use crate::loading;
use crate::recording_facts;
use crate::source::SourceFolders;

/// Most bytes of all source files together, as they are in the page.
const MAX_TOGETHER: u64 = 2 << 20;
/// A part of the page that they may have at most.
const SHARE: u64 = 4;

/// Source files for a page, and how many had no room.
#[derive(Debug, Default)]
pub(super) struct PackedSources {
    /// JSON, gzipped; empty if there are none.
    pub(super) bytes: Vec<u8>,
    /// Files that are in it.
    pub(super) files: usize,
    /// Files that are not, for the lack of room.
    pub(super) left_out: usize,
}

/// Packs the files that are on call paths of the recordings, those with most memory first. They are without their
/// paths on this machine.
pub(super) fn pack(
    recordings: &[Recording],
    folders: Option<&SourceFolders>,
    most: u64,
) -> Result<PackedSources, Failure> {
    let Some(folders) = folders else { return Ok(PackedSources::default()) };
    let room = MAX_TOGETHER.min(most / SHARE);
    let (mut sources, mut used, mut left_out) = (SourcesInMemory::default(), 0, 0);
    let engine = Engine::new(Setting::default());
    for recording in recordings.iter().filter(|one| !recording_facts::is_snapshot_alone(one)) {
        let id = loading::add(&engine, recording)?;
        for recorded in engine.files_by_size(id).map_err(|error| loading::refused(&error))? {
            if sources.0.contains_key(&recorded) {
                continue;
            }
            let Ok(mut file) = folders.find(&recorded) else { continue };
            file.path = None;
            // Together they compress better than each alone.
            let size = gzip(file.text.as_bytes()).len() as u64 + recorded.len() as u64;
            if used + size > room {
                left_out += 1;
                continue;
            }
            used += size;
            sources.0.insert(recorded, file);
        }
    }
    let json = serde_json::to_vec(&sources).expect("strings can always be written");
    Ok(PackedSources { bytes: gzip(&json), files: sources.0.len(), left_out })
}
