//! Rates at which blocks were sampled, if they changed. A recording may say so in a list beside its trace. Packets of
//! a trace that was thinned say it themselves ([`Note`](crate::header::Note)), and the list does not count for them.

use std::collections::BTreeMap;

use crate::read::Alloc;
use crate::units::{BlockId, DomainId};

/// The most that a rate is halved: by a program's own choice, and then as its history is thinned.
pub const MAX_HALVINGS: u8 = 24;

/// How often the trace's rate was halved for which blocks. A block that was sampled at a rate halved k
/// times counts 2^k times as many samples in the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateChanges {
    /// For each domain: from which block on it is halved how often; ascending.
    pub of_domain: BTreeMap<u16, Vec<(u64, u8)>>,
}

impl RateChanges {
    /// Whether all blocks are of the trace's rate.
    pub fn is_empty(&self) -> bool {
        self.of_domain.is_empty()
    }

    /// Number of times that the trace's rate was halved for the block of an event.
    pub fn of(&self, alloc: &Alloc<'_>) -> u8 {
        let listed = || self.halvings(alloc.domain, alloc.id);
        alloc.halvings.map_or_else(listed, |halvings| halvings.min(MAX_HALVINGS))
    }

    /// Number of times that the trace's rate was halved for a block, by the list.
    pub fn halvings(&self, domain: DomainId, block: BlockId) -> u8 {
        let find = || {
            let changes = self.of_domain.get(&domain.0)?;
            let after = changes.partition_point(|&(first, _)| first <= block.0);
            Some(changes.get(after.checked_sub(1)?)?.1.min(MAX_HALVINGS))
        };
        find().unwrap_or(0)
    }
}
