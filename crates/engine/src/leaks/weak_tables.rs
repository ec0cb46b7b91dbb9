//! Tables of `Ephemeron`: their entries live as long as keys that others retain, and they drop empty entries themselves.
//!
//! A program that keeps more and more keys has a table that grows with them. Who retains the keys is the suspect. Weak
//! pointers in lists and arrays of the program's own are not dropped by anybody.
//!
//! The collector decides when a set of `Weak` loses its values. So their lifetimes rise while collections become rarer, and tell
//! nothing of a queue.

use std::collections::HashMap;

use memtrail_heap::graph::{OwnersOfBlocks, RootNodeId};
use memtrail_heap::{BlockIndex, Words};

use super::owned::Owner;
use super::verdict::LEAST;
use crate::api_error::ApiError;
use crate::heap::loaded::LoadedSnapshot;

/// Ephemerons without which an owner is no weak table.
const EPHEMERONS: u64 = 10;
/// Part of an owner's bytes that weak arrays have, of a set of `Weak`: one in so many. Numbers for hashing are as large.
const WEAK_PART: u64 = 4;

/// The meaning of weak pointers for an owner.
#[derive(Clone, Copy, Default)]
pub(super) struct WeakTable {
    /// True if it is a table of `Ephemeron`, most of whose keys others retain.
    pub(super) follows_keys: bool,
    /// True if it consists of weak arrays: the collector takes out what was put in.
    pub(super) is_emptied: bool,
}

/// The ephemerons of an owner.
#[derive(Clone, Copy, Default)]
struct Entries {
    ephemerons: u64,
    buckets: u64,
    /// Keys that are alive, and those that the owner itself retains.
    keys: u64,
    own_keys: u64,
    /// Ephemerons, their buckets, and what their data alone retain.
    words: u64,
    /// Weak arrays alone.
    weak_words: u64,
}

impl Entries {
    fn table(&self, bytes: u64) -> WeakTable {
        let weak_bytes = Words(self.weak_words).bytes().0;
        let is_emptied =
            self.ephemerons >= EPHEMERONS && weak_bytes.saturating_mul(WEAK_PART) >= bytes;
        WeakTable { follows_keys: self.follow_keys(bytes), is_emptied }
    }

    fn follow_keys(&self, bytes: u64) -> bool {
        self.ephemerons >= EPHEMERONS
            && 2 * self.buckets >= self.ephemerons
            && 2 * self.own_keys <= self.keys
            && Words(self.words).bytes().0.saturating_mul(2) >= bytes
    }
}

/// Finds the owners that are weak tables.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub(super) fn weak_tables(
    loaded: &LoadedSnapshot,
    block_owners: &OwnersOfBlocks<'_>,
    owners: &[Owner<'_>],
) -> Result<Vec<WeakTable>, ApiError> {
    let large = |(_, owner): &(usize, &Owner<'_>)| owner.bytes() as f64 >= LEAST;
    let of_owner = |(number, owner): (usize, &Owner<'_>)| {
        let roots: Vec<RootNodeId> = owner.rows.iter().map(|row| row.owner).collect();
        roots.into_iter().map(move |root| (root, number))
    };
    let of_root: HashMap<RootNodeId, usize> =
        owners.iter().enumerate().filter(large).flat_map(of_owner).collect();
    let owner = |block: BlockIndex| Some(*of_root.get(&block_owners.get(block)?)?);
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let mut entries = vec![Entries::default(); owners.len()];
    for ephemeron in &heap.snapshot.ephemerons {
        let Some(number) = owner(ephemeron.block) else { continue };
        let of = &mut entries[number];
        of.ephemerons += 1;
        of.keys += ephemeron.keys.len() as u64;
        of.own_keys +=
            ephemeron.keys.iter().filter(|key| owner(**key) == Some(number)).count() as u64;
        let words = catalogue.size(ephemeron.block).0;
        of.words += words;
        if ephemeron.data.is_none() {
            of.weak_words += words;
        }
        if let Some(data) = ephemeron.data.filter(|data| owner(*data) == Some(number)) {
            of.words += catalogue.retained(heap, data).0;
        }
    }
    if entries.iter().any(|of| of.ephemerons >= EPHEMERONS) {
        let structures = loaded.structures()?;
        for block in (0..catalogue.len() as u32).map(BlockIndex) {
            if structures.is_ephemeron_bucket(block)
                && let Some(number) = owner(block)
            {
                entries[number].buckets += 1;
                entries[number].words += catalogue.size(block).0;
            }
        }
    }
    Ok(entries.iter().zip(owners).map(|(of, owner)| of.table(owner.bytes())).collect())
}
