//! Sums of snapshots of several processes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::summary::{KindSum, OwnerSum, RootSum, Summary};
use crate::units::Bytes;
use memtrail_order::SortRows as _;

impl Summary {
    /// The sum of some summaries: kinds, roots and owners of the same name are one. What several roots retain jointly is
    /// the sum of what they do in each.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self {
            version: Self::VERSION,
            checksum: 0,
            types: 0,
            blocks: 0,
            bytes: Bytes(0),
            external: Bytes(0),
            in_heap: Bytes(0),
            unreachable: Some(Bytes(0)),
            damage: None,
            kinds: Vec::new(),
            roots: Vec::new(),
            several: Bytes(0),
            several_external: Bytes(0),
            owners: Vec::new(),
        };
        let mut kinds: BTreeMap<String, KindSum> = BTreeMap::new();
        let mut roots: BTreeMap<(String, String), RootSum> = BTreeMap::new();
        let mut owners: BTreeMap<(String, String), OwnerSum> = BTreeMap::new();
        for mut one in all {
            sum.blocks += one.blocks;
            sum.bytes += one.bytes;
            sum.external += one.external;
            sum.in_heap += one.in_heap;
            sum.unreachable = sum.unreachable.zip(one.unreachable).map(|(a, b)| a + b);
            sum.damage = sum.damage.or_else(|| one.damage.take());
            sum.several += one.several;
            sum.several_external += one.several_external;
            for kind in one.kinds {
                let key = kind.name.clone();
                kinds.entry(key).and_modify(|known| known.add(&kind)).or_insert(kind);
            }
            for root in one.roots {
                let key = (root.kind.clone(), root.name.clone());
                roots.entry(key).and_modify(|known| known.add(&root)).or_insert(root);
            }
            for owner in one.owners {
                let key = (owner.kind.clone(), owner.name.clone());
                owners.entry(key).and_modify(|known| known.add(&owner)).or_insert(owner);
            }
        }
        sum.kinds = kinds.into_values().collect();
        sum.roots = roots.into_values().collect();
        sum.owners = owners.into_values().collect();
        sum.kinds.sort_rows_by_key(|kind| Reverse(kind.sizes().all()));
        sum.roots.sort_rows_by_key(|root| Reverse(root.sizes().all()));
        sum.owners.sort_rows_by_key(|owner| Reverse((owner.sizes().all(), owner.owned)));
        sum
    }
}

impl KindSum {
    pub(super) fn add(&mut self, more: &Self) {
        self.blocks += more.blocks;
        self.bytes += more.bytes;
        self.external += more.external;
    }
}

impl RootSum {
    fn add(&mut self, more: &Self) {
        self.retained += more.retained;
        self.retained_external += more.retained_external;
        self.jointly_retained += more.jointly_retained;
        self.jointly_retained_external += more.jointly_retained_external;
    }
}

impl OwnerSum {
    fn add(&mut self, more: &Self) {
        self.owned += more.owned;
        self.owned_external += more.owned_external;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_sum(blocks: u64, bytes: u64) -> KindSum {
        KindSum { name: "string".into(), blocks, bytes: Bytes(bytes), external: Bytes(blocks) }
    }

    fn summary(kind: u64, owner: &str, several: u64) -> Summary {
        Summary {
            blocks: 2,
            bytes: Bytes(kind),
            several: Bytes(several),
            kinds: vec![kind_sum(2, kind)],
            owners: vec![OwnerSum {
                kind: "global".into(),
                name: owner.into(),
                owned: Bytes(kind),
                owned_external: Bytes(1),
            }],
            ..Summary::sum([])
        }
    }

    #[test]
    fn what_has_the_same_name_is_added_up() {
        let damaged =
            Summary { unreachable: None, damage: Some("at 7".into()), ..summary(8, "A", 0) };
        let sum = Summary::sum([summary(16, "B", 3), summary(32, "A", 4), damaged]);
        assert_eq!((sum.blocks, sum.bytes, sum.several), (6, Bytes(56), Bytes(7)));
        assert_eq!((sum.unreachable, sum.damage.as_deref()), (None, Some("at 7")));
        assert_eq!(sum.kinds, [kind_sum(6, 56)]);
        let owners: Vec<(&str, u64, u64)> = (sum.owners.iter())
            .map(|owner| (owner.name.as_str(), owner.owned.0, owner.owned_external.0))
            .collect();
        assert_eq!(owners, [("A", 40, 2), ("B", 16, 1)]);
    }
}
