//! Which blocks a [`HeapWho`] query means: those that a root owns, of a type or kind, or below a node.

use std::collections::HashSet;

use memtrail_heap::graph::{Owners, RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{self, OwnerRow};
use memtrail_heap::{BlockIndex, BlockTypeId, Bytes};

use super::below::below;
use super::join::live;
use super::loaded::LoadedSnapshot;
use super::node;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::HeapWho;
use crate::recording::Recording;

/// Names of what is meant, at most.
const MAX_NAMES: usize = 10;

/// The blocks that a query means.
pub(super) struct Meant {
    pub(super) names: Vec<String>,
    pub(super) blocks: Blocks,
    pub(super) size: Bytes,
    pub(super) external: Bytes,
}

/// Blocks.
pub(super) enum Blocks {
    OwnedBy(HashSet<RootNodeId>),
    /// Of types of a name, and of the kind of that name those without a type, as a row of the histogram.
    OfTypes(HashSet<BlockTypeId>, Option<query::KindId>),
    OfKind(query::KindId),
    Listed(HashSet<BlockIndex>),
}

impl Blocks {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::OwnedBy(_) => "owner",
            Self::OfTypes(..) => "type",
            Self::OfKind(_) => "kind",
            Self::Listed(_) => "node",
        }
    }

    /// True if the block is one of these. `root_of` tells its owner.
    pub(super) fn has(
        &self,
        loaded: &LoadedSnapshot,
        root_of: &mut Owners<'_>,
        block: BlockIndex,
    ) -> bool {
        let heap = loaded.heap();
        match self {
            Self::OwnedBy(owners) => {
                root_of.get(block).is_some_and(|owner| owners.contains(&owner))
            }
            Self::OfTypes(types, kind) => {
                types.contains(&heap.types.id(block))
                    || heap.types.of(block).is_none()
                        && kind.is_some_and(|kind| loaded.catalogue.kind(block) == kind)
            }
            Self::OfKind(kind) => loaded.catalogue.kind(block) == *kind,
            Self::Listed(blocks) => blocks.contains(&block),
        }
    }
}

impl Meant {
    pub(super) fn of_query(
        loaded: &LoadedSnapshot,
        recording: &Recording,
        query: &HeapWho,
    ) -> Result<Self, ApiError> {
        if let Some(text) = &query.owner {
            let root = node::root_node(loaded, text)?;
            let is_meant = |row: &OwnerRow| {
                row.root == root || row.owner == root || row.alias_roots.contains(&root)
            };
            return Self::owners_where(loaded, is_meant)
                .ok_or_else(|| ApiError::bad(format_args!("{text} owns nothing")));
        }
        if let Some(text) = &query.node {
            let place = node::find(loaded, text)?;
            let info = node::place_info(loaded, &place);
            let blocks = below(loaded, &place, live(loaded, recording).map(|one| one.block));
            return Ok(Self {
                names: vec![info.name],
                blocks: Blocks::Listed(blocks),
                size: info.retained,
                external: info.retained_external,
            });
        }
        Self::of(loaded, &query.name).ok_or_else(|| {
            let message = format_args!("no root, type or kind is called {:?}", query.name);
            ApiError::absent(message)
        })
    }

    /// Roots that are called so, else types, with what has no type of a kind of that name, else such a kind, else roots with this in their names.
    fn of(loaded: &LoadedSnapshot, name: &str) -> Option<Self> {
        Self::owners(loaded, |known| known == name)
            .or_else(|| Self::types(loaded, name))
            .or_else(|| {
                let kind = loaded.catalogue.find(name)?;
                Some(Self::sum(loaded, vec![name.to_owned()], Blocks::OfKind(kind)))
            })
            .or_else(|| Self::owners(loaded, |known| known.contains(name)))
    }

    fn owners(loaded: &LoadedSnapshot, is_meant: impl Fn(&str) -> bool) -> Option<Self> {
        let is_meant =
            |row: &OwnerRow| is_meant(&row.name()) || row.aliases.iter().any(|name| is_meant(name));
        Self::owners_where(loaded, is_meant)
    }

    fn owners_where(loaded: &LoadedSnapshot, is_meant: impl Fn(&OwnerRow) -> bool) -> Option<Self> {
        let rows: Vec<&OwnerRow> =
            loaded.owners().rows.iter().filter(|row| is_meant(row)).collect();
        let names = rows.iter().take(MAX_NAMES).map(|row| shown(&row.name())).collect();
        let sum = |size: fn(&OwnerRow) -> Bytes| rows.iter().map(|row| size(row)).sum();
        (!rows.is_empty()).then(|| Self {
            names,
            size: sum(|row| row.owned),
            external: sum(|row| row.owned_external),
            blocks: Blocks::OwnedBy(rows.iter().map(|row| row.owner).collect()),
        })
    }

    fn types(loaded: &LoadedSnapshot, name: &str) -> Option<Self> {
        let types = &loaded.heap().types;
        let meant = types.iter().filter(|(_, ty)| ty.name == name);
        let meant: HashSet<BlockTypeId> = meant.map(|(id, _)| id).collect();
        (!meant.is_empty()).then(|| {
            let blocks = Blocks::OfTypes(meant, loaded.catalogue.find(name));
            Self::sum(loaded, vec![shown(name)], blocks)
        })
    }

    /// Adds up the sizes of all reachable blocks that are meant.
    fn sum(loaded: &LoadedSnapshot, names: Vec<String>, blocks: Blocks) -> Self {
        let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
        let all = (0..catalogue.len() as u32).map(BlockIndex);
        let mut root_of = heap.graph.owners_one_by_one();
        let is_meant = |block: &BlockIndex| {
            heap.graph.is_reachable(*block) && blocks.has(loaded, &mut root_of, *block)
        };
        let of = all.filter(is_meant);
        let (mut size, mut external) = (Bytes(0), Bytes(0));
        for block in of {
            size += catalogue.size(block).bytes();
            external += catalogue.external(block);
        }
        debug_assert!(heap.graph.held(SUPER_ROOT).bytes() >= size);
        Self { names, blocks, size, external }
    }
}
