//! Heap snapshots for the page: as many as there is room for, the newest of each recording first,
//! and of the others their summaries.

use std::io;
use std::sync::Arc;

use indicatif::ProgressBar;
use memtrail_engine::{SnapshotFacts, SnapshotFile};
use memtrail_heap::BlockTypes;
use memtrail_heap::read::Snapshot;
use memtrail_heap::renumber::renumber;
use memtrail_order::SortRows as _;
use memtrail_recording::Recording;
use memtrail_trace::BlockId;
use memtrail_trace::subsample::NewIds;

use super::attribute::attribute;
use super::gzip::{gunzip, gzip};
use super::privacy::Privacy;
use crate::recording_facts;
use crate::snapshot_file::{self, MemoryArgs, SnapshotFiles};

/// The most blocks of a snapshot that a browser should be asked to analyse.
const MAX_BLOCKS: u64 = 8_000_000;
/// Bytes of the elements of a snapshot without its facts, and of the ends of base64.
const MARKUP: usize = 200;
/// Bytes that a kind or a root takes in a summary, about.
const LINE: u64 = 120;
/// What is kept of summaries however many there are, and at most.
const LINES: std::ops::RangeInclusive<u64> = 40..=4096;
/// Summaries take this part of the room at most: one of so many.
const SHARE: u64 = 16;

/// A snapshot as it is in the page.
pub(super) struct Packed {
    pub(super) facts: SnapshotFacts,
    /// Gzipped; nothing if there was no room for it.
    pub(super) bytes: Vec<u8>,
    /// The types of its blocks and the names of its variables: the same.
    pub(super) types: Vec<u8>,
}

impl Packed {
    pub(super) fn is_included(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Bytes that it takes, as if all of them were put into base64.
    pub(super) fn size(&self) -> u64 {
        let text = (attribute("snapshot", &self.facts).len() + MARKUP) / 4 * 3;
        (self.bytes.len() + self.types.len() + text) as u64
    }

    /// Names sampled blocks by the numbers that they have in the subsampled trace. A snapshot for which this is not
    /// possible is left out.
    pub(super) fn renumber(&mut self, ids: &NewIds) {
        if self.is_included() && self.try_renumber(ids).is_none() {
            (self.bytes, self.types) = (Vec::new(), Vec::new());
        }
    }

    fn try_renumber(&mut self, ids: &NewIds) -> Option<()> {
        let new = |id| ids.get(BlockId(id)).map(|BlockId(id)| id);
        let copy = renumber(&gunzip(&self.bytes)?, new).ok()?;
        if !self.types.is_empty() {
            let mut types = gunzip(&self.types)?;
            BlockTypes::set_snapshot_of_file(&mut types, &Snapshot::read(&copy).ok()?);
            self.types = gzip(&types);
        }
        self.bytes = gzip(&copy);
        Some(())
    }
}

/// A snapshot that is there.
struct Found {
    recording: usize,
    facts: SnapshotFacts,
    file: Arc<dyn SnapshotFile>,
}

/// Packs the snapshots of recordings into about `room` bytes; those of each in their order, and
/// whether they have contents that are withheld.
pub(super) fn pack(
    recordings: &[Recording],
    room: u64,
    privacy: Privacy,
    memory: MemoryArgs,
) -> Vec<(Vec<Packed>, bool)> {
    let mut found = Vec::new();
    let mut packed: Vec<(Vec<Packed>, bool)> =
        recordings.iter().map(|_| (Vec::new(), false)).collect();
    for (number, recording) in recordings.iter().enumerate() {
        for (facts, file) in of(recording, memory) {
            packed[number].1 |= facts.contents && !privacy.contents;
            let (facts, file) = privacy.snapshot(facts, file);
            found.push(Found { recording: number, facts, file });
        }
    }
    if found.is_empty() {
        return packed;
    }
    summarise(&mut found, room);
    let summaries: u64 = found
        .iter()
        .map(|found| {
            Packed { facts: found.facts.clone(), bytes: Vec::new(), types: Vec::new() }.size()
        })
        .sum();
    let mut left = room.saturating_sub(summaries);
    // The newest of each recording first, then the second newest of each: all have as many, however
    // much later one was recorded than the others. What does not fit, a smaller one may.
    found.sort_rows_by(|a, b| b.facts.taken_unix.total_cmp(&a.facts.taken_unix));
    let mut seen = vec![0; recordings.len()];
    let mut ranked: Vec<(usize, Found)> = found
        .into_iter()
        .map(|found| {
            let rank = &mut seen[found.recording];
            *rank += 1;
            (*rank, found)
        })
        .collect();
    ranked.sort_rows_by_key(|(rank, _)| *rank);
    for (_, Found { recording, facts, file }) in ranked {
        let (bytes, types) = zipped(&facts, &*file, left, privacy).unwrap_or_default();
        left -= (bytes.len() + types.len()) as u64;
        packed[recording].0.push(Packed { facts, bytes, types });
    }
    for (snapshots, _) in &mut packed {
        snapshots.sort_rows_by_key(|snapshot| snapshot.facts.number);
    }
    packed
}

/// The snapshots of a recording, or the one that it is.
pub(super) fn of(
    recording: &Recording,
    memory: MemoryArgs,
) -> Vec<(SnapshotFacts, Arc<dyn SnapshotFile>)> {
    if recording_facts::is_snapshot_alone(recording) {
        let folder = recording.path.parent().unwrap_or(&recording.path);
        let files = SnapshotFiles::of_recording(folder, memory);
        return vec![files.open(&recording.path, None)];
    }
    if !recording.path.is_dir() {
        return Vec::new();
    }
    let found = snapshot_file::of_recording(&recording.path);
    if found.is_empty() {
        return Vec::new();
    }
    let files = SnapshotFiles::of_recording(&recording.path, memory);
    found.iter().map(|(number, path)| files.open(path, Some(*number))).collect()
}

/// Adds summaries to snapshots that have none yet, each as long as there is room for all.
fn summarise(found: &mut [Found], room: u64) {
    let lines = room / SHARE / LINE / found.len() as u64;
    let lines = lines.clamp(*LINES.start(), *LINES.end()) as usize;
    let bar = ProgressBar::new(found.len() as u64);
    for Found { facts, file, .. } in found {
        match memtrail_engine::summary(&**file, facts) {
            Ok(mut summary) => {
                summary.truncate(lines / 2);
                facts.summary = Some(summary);
            }
            Err(api_error) => facts.damage = Some(api_error.to_string()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
}

/// A snapshot and its types, gzipped: both, the snapshot alone, or neither if they had more than `room` bytes.
fn zipped(
    facts: &SnapshotFacts,
    file: &dyn SnapshotFile,
    room: u64,
    privacy: Privacy,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    // They are compressed already: gzip takes a third off at best.
    if facts.summary.is_none() || facts.blocks > MAX_BLOCKS || facts.file_bytes / 2 > room {
        return Ok((Vec::new(), Vec::new()));
    }
    let copy = privacy.bytes(&file.open()?)?;
    let bytes = gzip(&copy);
    if bytes.len() as u64 > room {
        return Ok((Vec::new(), Vec::new()));
    }
    let types = memtrail_engine::types_of_copy(file, &copy, |variable| privacy.variable(variable));
    // Without them, types are found by contents.
    let types = types.map(|types| gzip(&types)).unwrap_or_default();
    let fits = (bytes.len() + types.len()) as u64 <= room;
    Ok((bytes, if fits { types } else { Vec::new() }))
}
