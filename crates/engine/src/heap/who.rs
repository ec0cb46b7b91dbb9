//! The answer to [`HeapWho`]: which calls allocated what a variable owns, or the blocks of a type or kind.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memtrail_heap::graph::{RootNodeId, SUPER_ROOT};
use memtrail_heap::query;
use memtrail_heap::{BlockIndex, BlockTypeId, Bytes};
use memtrail_profile::calls::Label;
use serde::Serialize;

use super::join::{AliveEstimate, Live, Tally, live};
use super::loaded::LoadedSnapshot;
use super::rows::Rows;
use super::samples::{label, sites};
use crate::api_error::ApiError;
use crate::names::{row, shown};
use crate::query::HeapWho;
use crate::recording::Recording;

/// Names of what is meant, at most.
const MAX_NAMES: usize = 10;
/// Callers of a place, at most.
const MAX_CALLERS: usize = 4;

/// Which calls allocated some blocks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WhoResponse {
    /// What is meant: `owner`, `type` or `kind`.
    pub of: &'static str,
    /// The names of these.
    pub names: Vec<String>,
    /// The size of the blocks, exactly.
    pub size: Bytes,
    /// Bytes outside the heap that go with them.
    pub external: Bytes,
    /// The same, as the samples have it: less, if there were blocks before the recording began to sample.
    pub alive: AliveEstimate,
    /// The places in the program that allocated them, those of most first.
    pub rows: Vec<AllocatorRow>,
    /// How many rows there are.
    pub count: usize,
}

/// A place in the program, and what of some blocks it allocated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AllocatorRow {
    /// What filters call it.
    pub key: Option<String>,
    /// What it is shown as.
    pub name: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// What it allocated.
    pub alive: AliveEstimate,
    /// Of all of them.
    pub share: f64,
    /// The functions that called it, the nearest first, for one of the blocks.
    pub callers: Vec<String>,
    /// That block.
    pub example: BlockIndex,
}

pub(super) fn who(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapWho,
) -> Result<WhoResponse, ApiError> {
    let profile = recording.profile();
    let Some(meant) = Meant::of(loaded, &query.name) else {
        let message = format_args!("no root, type or kind is called {:?}", query.name);
        return Err(ApiError::bad(message));
    };
    let mut whole = Tally::default();
    let mut groups: HashMap<Option<Label>, (Tally, Live)> = HashMap::new();
    for one in live(loaded, recording).filter(|one| meant.blocks.has(loaded, one.block)) {
        whole.add(profile, one);
        let innermost = sites(recording, one.row).next();
        let label = innermost.and_then(|site| label(recording, query.by, site));
        let (tally, _) = groups.entry(label).or_insert_with(|| (Tally::default(), one));
        tally.add(profile, one);
    }
    let samples = whole.samples().max(1) as f64;
    let mut groups: Vec<(Option<Label>, (Tally, Live))> = groups.into_iter().collect();
    let key = |label: Option<Label>| label.map_or("", |label| recording.entities.label_key(label));
    groups.sort_by_key(|(label, (tally, _))| (Reverse(tally.samples()), key(*label)));
    let count = groups.len();
    let mut bounds = Rows::new(query.limit);
    let room = bounds.affordable(&groups, |(label, _)| 2000 + key(*label).len() * 2).len();
    let rows = groups.into_iter().take(room).map(|(label, (tally, one))| {
        let name = label.map(|label| row(&recording.entities, label));
        let share = tally.samples() as f64 / samples;
        let callers = sites(recording, one.row).skip(1).filter_map(|site| {
            let entity = recording.entities.of_function(site.function)?;
            Some(shown(recording.entities.name(entity)))
        });
        AllocatorRow {
            key: name.as_ref().map(|name| name.key.to_owned()),
            file: name.as_ref().and_then(|name| name.file.clone()),
            line: name.as_ref().and_then(|name| name.line),
            name: name.map_or_else(|| "(unknown)".to_owned(), |name| name.label),
            alive: tally.finish(profile),
            share,
            callers: callers.take(MAX_CALLERS).collect(),
            example: one.block,
        }
    });
    Ok(WhoResponse {
        of: meant.blocks.name(),
        rows: rows.collect(),
        names: meant.names,
        size: meant.size,
        external: meant.external,
        alive: whole.finish(profile),
        count,
    })
}

/// The blocks that a name means.
struct Meant {
    names: Vec<String>,
    blocks: Blocks,
    size: Bytes,
    external: Bytes,
}

/// Blocks.
enum Blocks {
    OwnedBy(HashSet<RootNodeId>),
    OfTypes(HashSet<BlockTypeId>),
    OfKind(query::KindId),
}

impl Blocks {
    const fn name(&self) -> &'static str {
        match self {
            Self::OwnedBy(_) => "owner",
            Self::OfTypes(_) => "type",
            Self::OfKind(_) => "kind",
        }
    }

    fn has(&self, loaded: &LoadedSnapshot, block: BlockIndex) -> bool {
        let heap = loaded.heap();
        match self {
            Self::OwnedBy(owners) => {
                heap.graph.owner(block).is_some_and(|owner| owners.contains(&owner))
            }
            Self::OfTypes(types) => types.contains(&heap.types.id(block)),
            Self::OfKind(kind) => loaded.catalogue.kind(block) == *kind,
        }
    }
}

impl Meant {
    /// Roots that are called so, else types, else a kind, else roots with this in their names.
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
        let is_meant = |row: &&query::OwnerRow| {
            is_meant(&row.name()) || row.aliases.iter().any(|name| is_meant(name))
        };
        let rows: Vec<&query::OwnerRow> = loaded.owners().rows.iter().filter(is_meant).collect();
        let names = rows.iter().take(MAX_NAMES).map(|row| shown(&row.name())).collect();
        let sum = |size: fn(&query::OwnerRow) -> Bytes| rows.iter().map(|row| size(row)).sum();
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
        (!meant.is_empty()).then(|| Self::sum(loaded, vec![shown(name)], Blocks::OfTypes(meant)))
    }

    /// Adds up the sizes of all reachable blocks that are meant.
    fn sum(loaded: &LoadedSnapshot, names: Vec<String>, blocks: Blocks) -> Self {
        let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
        let all = (0..catalogue.len() as u32).map(BlockIndex);
        let of = all.filter(|block| heap.graph.is_reachable(*block) && blocks.has(loaded, *block));
        let (mut size, mut external) = (Bytes(0), Bytes(0));
        for block in of {
            size += catalogue.size(block).bytes();
            external += catalogue.external(block);
        }
        debug_assert!(heap.graph.held(SUPER_ROOT).bytes() >= size);
        Self { names, blocks, size, external }
    }
}
