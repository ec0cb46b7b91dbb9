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
/// Traces of which all is kept have the same ids: of these, only how many there are is known.
#[derive(Debug, Default)]
pub(crate) struct NewIds {
    /// Blocks up to this id have come, and have the same one.
    same: u64,
    /// Others.
    changed: FxHashMap<BlockId, Fate>,
}

impl NewIds {
    /// Learns what has become of a block.
    pub(crate) fn insert(&mut self, old: BlockId, new: Option<BlockId>) {
        if new == Some(old) && old.0 == self.same {
            self.same += 1;
        } else {
            self.changed.insert(old, new.map_or(Fate::Dropped, Fate::Kept));
        }
    }

    /// What has become of a block.
    pub(crate) fn get(&self, id: BlockId) -> Fate {
        let changed = if self.changed.is_empty() { None } else { self.changed.get(&id).copied() };
        changed.unwrap_or_else(|| self.unchanged(id))
    }

    /// The same of a block of which nothing more will come.
    pub(crate) fn take(&mut self, id: BlockId) -> Fate {
        let changed = if self.changed.is_empty() { None } else { self.changed.remove(&id) };
        // Damaged traces have an id twice: the later one counts.
        changed.unwrap_or_else(|| self.unchanged(id))
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
