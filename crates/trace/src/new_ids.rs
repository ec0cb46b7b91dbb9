//! The ids that blocks of a trace have in another one.

use rustc_hash::FxHashMap;

use crate::units::BlockId;

/// New ids of the blocks that are still live; `None` for those that were dropped.
///
/// Traces of which all is kept have the same ids: of these, only how many there are is known.
#[derive(Debug, Default)]
pub(crate) struct NewIds {
    /// Blocks up to this id have come, and have the same one.
    same: u64,
    /// Others.
    changed: FxHashMap<BlockId, Option<BlockId>>,
}

impl NewIds {
    /// Learns what has become of a block.
    pub(crate) fn insert(&mut self, old: BlockId, new: Option<BlockId>) {
        if new == Some(old) && old.0 == self.same {
            self.same += 1;
        } else {
            self.changed.insert(old, new);
        }
    }

    /// What has become of a block that has come.
    pub(crate) fn get(&self, id: BlockId) -> Option<Option<BlockId>> {
        // Damaged traces have an id twice.
        let changed = if self.changed.is_empty() { None } else { self.changed.get(&id).copied() };
        changed.or_else(|| (id.0 < self.same).then_some(Some(id)))
    }

    /// The same of a block of which nothing more will come.
    pub(crate) fn take(&mut self, id: BlockId) -> Option<Option<BlockId>> {
        let changed = if self.changed.is_empty() { None } else { self.changed.remove(&id) };
        changed.or_else(|| (id.0 < self.same).then_some(Some(id)))
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
            for (place, id) in asked.iter().map(|id| BlockId(*id)).enumerate() {
                prop_assert_eq!(ids.get(id), map.get(&id).copied());
                if !asked[..place].contains(&id.0) {
                    prop_assert_eq!(ids.take(id), map.get(&id).copied());
                }
                if ids.get(id).is_none() {
                    map.remove(&id);
                }
            }
        }
    }
}
