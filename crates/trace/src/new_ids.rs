//! The ids that blocks of a trace have in another one.

use rustc_hash::FxHashMap;

use crate::units::BlockId;

/// What has become of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was let through, and has this id.
    Kept(BlockId),
    /// It was dropped.
    Dropped,
    /// It has not come, or nothing more was to come of it.
    Unknown,
}

/// New ids of the blocks that are still live.
///
/// Traces of which all is kept have the same ids: of these, only how many there are is known. Of a trace that is made much smaller
/// most blocks are dropped: each of these takes a bit.
#[derive(Debug, Default)]
pub(crate) struct NewIds {
    /// Blocks up to this id have come, and have the same one.
    same: u64,
    /// Other blocks that were let through.
    changed: FxHashMap<BlockId, BlockId>,
    dropped: IdSet,
}

/// Ids, those near to each other together.
#[derive(Debug, Default)]
struct IdSet {
    /// The ids with the same quotient by [`PART`], a bit each.
    parts: FxHashMap<u64, Box<[u64; WORDS]>>,
}

/// Words of a part.
const WORDS: usize = 512;
/// Ids of a part.
const PART: u64 = WORDS as u64 * 64;

impl IdSet {
    /// The bit of an id: its part, its word there and its place in the word.
    fn place(id: BlockId) -> (u64, usize, u64) {
        let within = id.0 % PART;
        (id.0 / PART, (within / 64) as usize, 1 << (within % 64))
    }

    fn insert(&mut self, id: BlockId) {
        let (part, word, bit) = Self::place(id);
        self.parts.entry(part).or_insert_with(|| Box::new([0; WORDS]))[word] |= bit;
    }

    fn contains(&self, id: BlockId) -> bool {
        let (part, word, bit) = Self::place(id);
        self.parts.get(&part).is_some_and(|part| part[word] & bit != 0)
    }

    /// Removes an id. True if it was there.
    fn remove(&mut self, id: BlockId) -> bool {
        let (part, word, bit) = Self::place(id);
        self.parts.get_mut(&part).is_some_and(|part| {
            let was_there = part[word] & bit != 0;
            part[word] &= !bit;
            was_there
        })
    }
}

impl NewIds {
    /// Learns what has become of a block.
    pub(crate) fn insert(&mut self, old: BlockId, new: Option<BlockId>) {
        match new {
            Some(new) if new == old && old.0 == self.same => self.same += 1,
            Some(new) => {
                // Damaged traces have an id twice: the later one counts.
                self.dropped.remove(old);
                self.changed.insert(old, new);
            }
            None => self.dropped.insert(old),
        }
    }

    /// What has become of a block.
    pub(crate) fn get(&self, id: BlockId) -> Fate {
        if self.dropped.contains(id) {
            return Fate::Dropped;
        }
        let changed = if self.changed.is_empty() { None } else { self.changed.get(&id).copied() };
        changed.map_or_else(|| self.unchanged(id), Fate::Kept)
    }

    /// The same of a block of which nothing more will come.
    pub(crate) fn take(&mut self, id: BlockId) -> Fate {
        if self.dropped.remove(id) {
            return Fate::Dropped;
        }
        let changed = if self.changed.is_empty() { None } else { self.changed.remove(&id) };
        changed.map_or_else(|| self.unchanged(id), Fate::Kept)
    }

    fn unchanged(&self, id: BlockId) -> Fate {
        if id.0 < self.same { Fate::Kept(id) } else { Fate::Unknown }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// As in damaged traces.
    #[test]
    fn of_an_id_that_comes_twice_the_later_counts() {
        let (id, mut ids) = (BlockId(7), NewIds::default());
        for new in [Some(BlockId(1)), None, Some(BlockId(2)), None] {
            ids.insert(id, new);
            assert_eq!(ids.get(id), new.map_or(Fate::Dropped, Fate::Kept));
        }
    }

    proptest! {
        /// As a map, but for blocks of which all was said.
        #[test]
        fn ids_are_those_of_a_map(
            kept in proptest::collection::vec(proptest::bool::weighted(0.9), 0..60),
            first in 0u64..2,
            asked in proptest::collection::vec(0u64..64, 0..60),
        ) {
            let (mut ids, mut map, mut next) = (NewIds::default(), HashMap::new(), 0);
            for (old, is_kept) in (first..).zip(kept) {
                let new = is_kept.then_some(BlockId(next));
                next += u64::from(is_kept);
                ids.insert(BlockId(old), new);
                map.insert(BlockId(old), new);
            }
            let fate = |found: Option<&Option<BlockId>>| match found {
                Some(Some(new)) => Fate::Kept(*new),
                Some(None) => Fate::Dropped,
                None => Fate::Unknown,
            };
            for (place, id) in asked.iter().map(|id| BlockId(*id)).enumerate() {
                prop_assert_eq!(ids.get(id), fate(map.get(&id)));
                if !asked[..place].contains(&id.0) {
                    prop_assert_eq!(ids.take(id), fate(map.get(&id)));
                }
                if ids.get(id) == Fate::Unknown {
                    map.remove(&id);
                }
            }
        }
    }
}
