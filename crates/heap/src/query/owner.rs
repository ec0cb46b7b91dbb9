//! One owner: what it holds, and what it shares with whom.

use std::cmp::Reverse;

use memtrail_order::SortRows as _;
use serde::Serialize;

use super::heap::Heap;
use super::owners::{Names, OwnerRow};
use crate::graph::{ReachableSize, RootNodeId};
use crate::label::Strength;
use crate::units::{BlockIndex, Bytes};

/// What one owner has to do with others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnerDetails {
    /// All that is reachable from what it holds.
    pub reachable: Bytes,
    /// Bytes outside the heap that go with that.
    pub reachable_external: Bytes,
    /// What of the reachable other roots own, those of most first.
    pub owned_by_others: Vec<SharedPart>,
    /// What other roots reach of what it owns, those of most first: those that refer to it directly.
    pub reached_by_others: Vec<SharedPart>,
}

/// What two roots share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedPart {
    /// The other root's name.
    pub name: String,
    /// Its number.
    pub root: RootNodeId,
    /// Its kind.
    pub kind: &'static str,
    /// How much.
    pub bytes: Bytes,
    /// Bytes outside the heap that go with that.
    pub external: Bytes,
}

/// What one owner shares with whom.
pub fn owner_details(heap: &Heap<'_>, row: &OwnerRow) -> OwnerDetails {
    let names = Names::new(heap);
    let blocks: Vec<BlockIndex> = match row.block {
        Some(block) => vec![block],
        None => heap
            .snapshot
            .roots
            .iter()
            .filter(|root| root.strength == Strength::Strong)
            .filter(|root| heap.graph.root_nodes().label(root.label) == row.root)
            .map(|root| root.block)
            .collect(),
    };
    let reachable = heap.graph.reachable_by_owner(&blocks);
    let all = reachable.iter().fold([Bytes(0); 2], |all, (_, size)| {
        [all[0] + size.words.bytes(), all[1] + size.external]
    });
    let others = |parts: Vec<(RootNodeId, ReachableSize)>| {
        let mut others: Vec<SharedPart> = parts
            .into_iter()
            .filter(|(other, _)| names.owner_of(*other) != row.owner)
            .filter(|(other, _)| !row.alias_roots.contains(other))
            .map(|(other, size)| SharedPart {
                name: names.name(other),
                root: names.definition(other),
                kind: names.kind(other),
                bytes: size.words.bytes(),
                external: size.external,
            })
            .filter(|part| part.bytes.0 + part.external.0 > 0)
            .collect();
        others.sort_rows_by_key(|part| {
            (Reverse(part.bytes + part.external), Reverse(part.bytes), part.root)
        });
        others
    };
    OwnerDetails {
        reachable: all[0],
        reachable_external: all[1],
        owned_by_others: others(reachable),
        reached_by_others: others(heap.graph.referring_owners(row.owner)),
    }
}
