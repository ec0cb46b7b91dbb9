//! What must be remembered of each domain from packet to packet.

use super::backtrace::Backtraces;
use super::mtf::Names;
use crate::units::{DomainId, Timestamp};

/// A domain's state. The tables of names and of backtraces are its own.
#[derive(Debug)]
pub(super) struct Domain {
    pub(super) names: Names,
    pub(super) backtraces: Backtraces,
    /// Time of the last event, as handed out.
    pub(super) last: Timestamp,
    /// What is added to the times in the file, for a clock that went back.
    pub(super) skew: u64,
    /// Something of its packets could not be read.
    pub(super) suspect: bool,
}

/// The domains met, by their id.
#[derive(Debug, Default)]
pub(super) struct Domains {
    by_id: Vec<Option<Box<Domain>>>,
    /// For domains that are met after packets were lost.
    suspect: bool,
}

impl Domains {
    pub(super) fn get(&mut self, id: DomainId, start: Timestamp) -> &mut Domain {
        let index = usize::from(id.0);
        if self.by_id.len() <= index {
            self.by_id.resize_with(index + 1, || None);
        }
        let suspect = self.suspect;
        self.by_id[index].get_or_insert_with(|| {
            Box::new(Domain {
                names: Names::default(),
                backtraces: Backtraces::new(),
                last: start,
                skew: 0,
                suspect,
            })
        })
    }

    /// Packets of unknown domains are missing.
    pub(super) fn suspect_all(&mut self) {
        self.suspect = true;
        for domain in self.by_id.iter_mut().flatten() {
            domain.suspect = true;
        }
    }
}
