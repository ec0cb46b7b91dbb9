//! References to blocks from `malloc` for the page: those of each recording's last snapshot, as `memtrail view` has them.

use memtrail_engine::references::ReferencesFacts;
use memtrail_recording::Recording;
use memtrail_references::References;
use memtrail_trace::subsample::NewIds;

use super::gzip::{gunzip, gzip};
use super::privacy::Privacy;
use crate::references;

/// References as they are in the page.
pub(super) struct Packed {
    pub(super) facts: ReferencesFacts,
    /// The file, gzipped; nothing if it is not in the page.
    pub(super) bytes: Vec<u8>,
}

impl Packed {
    fn missing(reason: String) -> Self {
        Self { facts: ReferencesFacts::Missing(reason), bytes: Vec::new() }
    }

    /// The number of the snapshot that they are of, if they are in the page.
    pub(super) fn snapshot(&self) -> Option<u64> {
        match self.facts {
            ReferencesFacts::Snapshot(number) => Some(number),
            ReferencesFacts::Missing(_) => None,
        }
    }

    /// Names sampled blocks by the numbers that they have in the subsampled trace. Those that are not in it lead on, as
    /// other blocks that were not sampled do.
    pub(super) fn renumber(&mut self, ids: &NewIds) {
        if self.bytes.is_empty() {
            return;
        }
        let known = gunzip(&self.bytes).and_then(|bytes| References::read(&bytes).ok());
        let Some(mut known) = known else {
            *self = Self::missing("the file cannot be read".to_owned());
            return;
        };
        for block in &mut known.blocks {
            block.sampled = block.sampled.and_then(|id| ids.get(id));
        }
        self.bytes = gzip(&known.to_bytes());
    }
}

/// Packs the references of a recording, if they were looked for, into `room` bytes.
pub(super) fn pack(recording: &Recording, room: u64, privacy: Privacy) -> Option<Packed> {
    let found = match references::found(recording, None) {
        Ok(found) => found?,
        Err(failure) => Err(failure.message().to_owned()),
    };
    Some(match found {
        Ok((number, found)) => {
            let bytes = gzip(&privacy.references(found).to_bytes());
            if bytes.len() as u64 <= room {
                Packed { facts: ReferencesFacts::Snapshot(number), bytes }
            } else {
                Packed::missing("the page has no room for it".to_owned())
            }
        }
        Err(reason) => Packed::missing(privacy.reason(reason)),
    })
}
