//! The answer to [`HeapWhy`]: what retains what a function allocated.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::{RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{self, OwnerRow};
use memtrail_trace::Site;
use serde::Serialize;

use super::join::{AliveEstimate, Live, Tally, live};
use super::loaded::{LoadedSnapshot, damaged};
use super::samples::sites;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::HeapWhy;
use crate::recording::Recording;

/// Functions that are named at most.
const MAX_NAMES: usize = 10;
/// Owners and paths at most.
const MAX_ROWS: usize = 500;
/// Blocks at most whose paths are looked at: some of all, evenly.
const MAX_PATHS: usize = 4000;

/// What retains what a function allocated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WhyResponse {
    /// The functions that are meant.
    pub names: Vec<String>,
    /// Whether they are on the callstacks of allocations, but allocate nothing that is alive themselves.
    pub are_callers: bool,
    /// What of it is alive.
    pub alive: AliveEstimate,
    /// Of all that is alive.
    pub share: f64,
    /// The roots that own it, those of most first.
    pub owners: Vec<OwnerShare>,
    /// How many owners there are.
    pub owner_count: usize,
    /// The paths by which it is retained, those of the same shape as one, the most frequent first.
    pub paths: Vec<PathShare>,
}

/// A root, and what it owns of some blocks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnerShare {
    /// Its name.
    pub name: String,
    /// The kind of root.
    pub kind: &'static str,
    /// The variable's type, if it is one and that is known.
    pub r#type: Option<String>,
    /// Where the variable is defined.
    pub position: Option<String>,
    /// Its number.
    pub root: RootNodeId,
    /// What it owns of them.
    pub alive: AliveEstimate,
    /// Of all of them.
    pub share: f64,
    /// One of the blocks.
    pub example: BlockIndex,
}

/// Retaining paths of the same shape.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PathShare {
    /// The shape: names from the root to the block, with fields.
    pub shape: Vec<String>,
    /// Of all the bytes, an estimate.
    pub share: f64,
    /// How many sampled blocks are retained this way.
    pub blocks: u64,
    /// One of them.
    pub example: BlockIndex,
}

pub(super) fn why(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapWhy,
) -> Result<WhyResponse, ApiError> {
    let (heap, profile) = (loaded.heap(), recording.profile());
    let Some(Allocated { names, are_callers, blocks }) = allocated(loaded, recording, &query.name)
    else {
        let message = format_args!("nothing that {:?} allocated is alive and sampled", query.name);
        return Err(ApiError::bad(message));
    };
    let mut whole = Tally::default();
    let mut of_owner: HashMap<RootNodeId, (Tally, BlockIndex)> = HashMap::new();
    for one in &blocks {
        whole.add(profile, *one);
        let owner = heap.graph.owner(one.block).unwrap_or(SUPER_ROOT);
        let (tally, _) = of_owner.entry(owner).or_insert_with(|| (Tally::default(), one.block));
        tally.add(profile, *one);
    }
    let samples = whole.samples().max(1) as f64;
    let rows: HashMap<RootNodeId, &OwnerRow> =
        loaded.owners().rows.iter().map(|row| (row.owner, row)).collect();
    let mut owners: Vec<(RootNodeId, (Tally, BlockIndex))> = of_owner.into_iter().collect();
    owners.sort_by_key(|(owner, (tally, _))| (Reverse(tally.samples()), *owner));
    let owner_count = owners.len();
    let owners = owners.into_iter().take(query.limit.min(MAX_ROWS)).filter_map(
        |(owner, (tally, example))| {
            let row = rows.get(&owner)?;
            Some(OwnerShare {
                name: shown(&row.name()),
                kind: row.kind,
                r#type: row.r#type.as_deref().map(shown),
                position: row.position.as_deref().map(shown),
                root: row.root,
                share: tally.samples() as f64 / samples,
                alive: tally.finish(profile),
                example,
            })
        },
    );
    let owners = owners.collect();
    let every = blocks.len().div_ceil(MAX_PATHS).max(1);
    let some: Vec<(BlockIndex, u64)> = blocks
        .iter()
        .step_by(every)
        .map(|one| (one.block, profile.blocks.samples(one.row)))
        .collect();
    let weight = some.iter().map(|(_, samples)| *samples).sum::<u64>().max(1) as f64;
    let paths = query::weighted_paths(heap, &some).map_err(damaged)?;
    let paths = paths.into_iter().take(query.limit.min(MAX_ROWS)).map(|path| PathShare {
        shape: path.shape.iter().map(|step| shown(step)).collect(),
        share: path.weight as f64 / weight,
        blocks: path.blocks,
        example: path.example,
    });
    let paths = paths.collect();
    let alive = whole.finish(profile);
    let all = heap.graph.held(SUPER_ROOT).bytes() + heap.graph.held_external(SUPER_ROOT);
    let share = if all.0 == 0 { 0.0 } else { alive.bytes.value / all.0 as f64 };
    Ok(WhyResponse { names, are_callers, alive, share, owners, owner_count, paths })
}

/// What functions allocated that is alive.
struct Allocated {
    names: Vec<String>,
    are_callers: bool,
    blocks: Vec<Live>,
}

/// Whether a known name is the one that is meant.
type Comparison = fn(&str, &str) -> bool;

/// What a name means: the functions called so that allocate, else those with it in their names, else those that
/// are called so or have it in their names anywhere on the callstacks. `file.ml:12` is a line.
fn allocated(loaded: &LoadedSnapshot, recording: &Recording, name: &str) -> Option<Allocated> {
    let all: Vec<Live> = live(loaded, recording).collect();
    let is_exact = |known: &str, name: &str| known == name;
    let is_like = |known: &str, name: &str| known.contains(name);
    for (are_callers, is) in
        [(false, is_exact as Comparison), (false, is_like), (true, is_exact), (true, is_like)]
    {
        let is_meant = |site: &Site| is_called(recording, *site, name, is);
        let mut names: Vec<String> = Vec::new();
        let mut blocks = Vec::new();
        for one in &all {
            let depth = if are_callers { usize::MAX } else { 1 };
            let Some(site) = sites(recording, one.row).take(depth).find(|site| is_meant(site))
            else {
                continue;
            };
            blocks.push(*one);
            if let Some(entity) = recording.entities.of_function(site.function) {
                let name = shown(recording.entities.name(entity));
                if names.len() < MAX_NAMES && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if !blocks.is_empty() {
            return Some(Allocated { names, are_callers, blocks });
        }
    }
    None
}

/// Whether the function of a site, or its line, has a name.
fn is_called(recording: &Recording, site: Site, name: &str, is: Comparison) -> bool {
    let entities = &recording.entities;
    if let Some((file, line)) = name.rsplit_once(':')
        && let Ok(line) = line.parse::<u32>()
    {
        let place = recording.profile().locations.resolve(site);
        return place.line == line && is(entities.file_name(site.file), file);
    }
    entities
        .of_function(site.function)
        .is_some_and(|entity| is(entities.name(entity), name) || is(entities.key(entity), name))
}
