//! A trace that is read on while it grows. Of what was read, live blocks and those since a moment are kept.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use memtrail_profile::Profile;
use memtrail_profile::growing::GrowingProfile;
use memtrail_profile::time::Elapsed;
use memtrail_recording::{Recording, is_alive, is_this_host};

use crate::error::Failure;
use crate::{loading, naming, rates, recording_facts};

/// Bytes that are read at once. A packet that is larger gets more.
const CHUNK: u64 = 1 << 20;
/// Looks after a program's death in which its recording must be closed.
const LOOKS_AFTER_DEATH: u32 = 6;
/// Collected blocks are forgotten when there are so many more blocks.
const FORGET_AFTER: usize = 20_000;

/// Device and inode of a trace.
pub(super) type FileId = (u64, u64);

/// A trace and the place up to which it was read.
pub(super) struct Tail {
    pub(super) growing: GrowingProfile,
    /// The trace that is being read.
    pub(super) file: Option<FileId>,
    chunk: u64,
    /// Blocks that were left when blocks were forgotten last.
    left: usize,
    /// The latest event, and when it was seen.
    seen: (Instant, u64),
    looks_after_death: u32,
    pub(super) is_finished: bool,
}

/// True if the program of a growing recording is known to be gone.
pub(super) fn is_abandoned(recording: &Recording) -> bool {
    let known = recording.description.as_ref();
    known.is_some_and(|known| is_this_host(&known.host) && !is_alive(known.pid))
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Events were read.
    Advanced,
    /// No packet was whole in so many bytes: the next step takes more.
    More,
    /// The bytes up to the bound that was given end in the middle of a packet.
    Bound,
    /// All was read.
    AtEnd,
}

impl Tail {
    pub(super) fn new() -> Self {
        Self {
            growing: GrowingProfile::new(None),
            file: None,
            chunk: CHUNK,
            left: 0,
            seen: (Instant::now(), 0),
            looks_after_death: 0,
            is_finished: false,
        }
    }

    /// The part that was read.
    pub(super) fn profile(&self) -> Option<&Profile> {
        self.growing.profile()
    }

    /// Time of the latest event.
    pub(super) fn latest(&self) -> u64 {
        self.profile().map_or(0, |profile| profile.end.0)
    }

    /// The present by the trace's clock. The clock that the system may set plays no part in this.
    pub(super) fn present(&self) -> u64 {
        self.seen.1 + self.seen.0.elapsed().as_micros() as u64
    }

    /// True if no more will be written. `is_once`: nobody will look again.
    pub(super) fn is_closed(&mut self, recording: &Recording, is_once: bool) -> bool {
        if !recording_facts::grows(recording) {
            return true;
        }
        let is_gone = is_abandoned(recording);
        self.looks_after_death = if is_gone { self.looks_after_death + 1 } else { 0 };
        is_gone && (is_once || self.looks_after_death >= LOOKS_AFTER_DEATH)
    }

    /// Reads on, at first only up to a place in the file, if `bound` gives one beyond what was read.
    pub(super) fn read(
        &mut self,
        recording: &Recording,
        is_closed: bool,
        bound: impl FnOnce(FileId) -> u64,
    ) -> Result<Step, Failure> {
        let unreadable = |error: io::Error| Failure::unreadable(&recording.trace, &error);
        let mut file = match File::open(&recording.trace) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_closed => {
                return Ok(Step::AtEnd);
            }
            opened => opened.map_err(unreadable)?,
        };
        let metadata = file.metadata().map_err(unreadable)?;
        let id = (metadata.dev(), metadata.ino());
        if self.file != Some(id) || metadata.len() < self.growing.offset() {
            // A trace that was thinned, or whose functions were named, is another file: it is read again.
            self.growing = GrowingProfile::new(naming::naming(recording));
            (self.file, self.left) = (Some(id), 0);
        }
        let offset = self.growing.offset();
        let bound = bound(id);
        let limit = if offset < bound { bound - offset } else { u64::MAX };
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        let bytes = self.chunk.min(limit);
        file.take(bytes).read_to_end(&mut tail).map_err(unreadable)?;
        let is_all = offset + tail.len() as u64 >= metadata.len();
        if let Some(list) = rates::list(recording) {
            self.growing.rates(list.into());
        }
        if self.growing.advance(&tail) {
            self.chunk = CHUNK;
            let latest = self.latest();
            if latest > self.seen.1 {
                self.seen = (Instant::now(), latest);
            }
            return Ok(Step::Advanced);
        }
        if !is_all {
            if bytes == limit {
                return Ok(Step::Bound);
            }
            self.chunk = self.chunk.saturating_mul(2);
            return Ok(Step::More);
        }
        if is_closed {
            let finished = self.growing.finish(&tail);
            finished.map_err(|error| loading::no_trace(&recording.trace, &error))?;
            self.is_finished = true;
        }
        Ok(Step::AtEnd)
    }

    /// True if collected blocks take much memory.
    pub(super) fn is_full(&self) -> bool {
        self.blocks() > 2 * self.left + FORGET_AFTER
    }

    /// Forgets blocks that were collected before a moment.
    pub(super) fn forget(&mut self, before: Elapsed) {
        self.growing.forget(before);
        self.left = self.blocks();
    }

    fn blocks(&self) -> usize {
        self.profile().map_or(0, |profile| profile.blocks.len())
    }
}
