//! What retains the closures of a function of which nothing that it allocated is alive and sampled: a library's event loop
//! allocated it, for the most part. Closures are counted in the snapshot, so all figures are exact.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memtrail_heap::graph::{RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{self, KindId, MergedPath, OwnerRow};
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_order::SortRows as _;
use memtrail_profile::estimate::Estimate;

use super::allocated::Allocated;
use super::join::AliveEstimate;
use super::loaded::{LoadedSnapshot, damaged};
use super::why::{MAX_NAMES, MAX_PATHS, MAX_ROWS, OwnerShare, PathShare, WhyResponse, owner_share};
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::HeapWhy;
use crate::recording::Recording;

/// How the kinds of closures are called.
const CLOSURE: &str = "closure ";

/// The answer for closures of functions that are called so, and of those within, or else of those that have it in their names;
/// none if there are none.
pub(super) fn why(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapWhy,
) -> Result<Option<WhyResponse>, ApiError> {
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let Some(kinds) = kinds(catalogue.names(), &query.name) else { return Ok(None) };
    let wanted: HashSet<KindId> = kinds.iter().filter_map(|name| catalogue.find(name)).collect();
    let all = (0..loaded.blocks()).filter_map(|at| u32::try_from(at).ok()).map(BlockIndex);
    let is_meant = |block: &BlockIndex| {
        wanted.contains(&catalogue.kind(*block)) && heap.graph.is_reachable(*block)
    };
    let blocks: Vec<BlockIndex> = all.filter(is_meant).collect();
    if blocks.is_empty() {
        return Ok(None);
    }
    let bytes = |block: BlockIndex| catalogue.size(block).bytes();
    let mut whole = Counted::default();
    let mut of_owner: HashMap<RootNodeId, (Counted, BlockIndex)> = HashMap::new();
    let mut root_of = heap.graph.owners_one_by_one();
    for block in &blocks {
        whole.add(bytes(*block));
        let owner = root_of.get(*block).unwrap_or(SUPER_ROOT);
        let (counted, _) = of_owner.entry(owner).or_insert_with(|| (Counted::default(), *block));
        counted.add(bytes(*block));
    }
    let rows: HashMap<RootNodeId, &OwnerRow> =
        loaded.owners().rows.iter().map(|row| (row.owner, row)).collect();
    let mut owners: Vec<(RootNodeId, (Counted, BlockIndex))> = of_owner.into_iter().collect();
    owners.sort_rows_by_key(|(owner, (counted, _))| (Reverse(counted.bytes), *owner));
    let owner_count = owners.len();
    let limit = query.limit.min(MAX_ROWS);
    let owners = owners.into_iter().take(limit).filter_map(|(owner, (counted, example))| {
        let share = counted.bytes.share_of(whole.bytes);
        Some(owner_share(loaded, rows.get(&owner)?, counted.exactly(), share, example))
    });
    let owners: Vec<OwnerShare> = owners.collect();
    let all = heap.graph.held(SUPER_ROOT).bytes() + heap.graph.held_external(SUPER_ROOT);
    Ok(Some(WhyResponse {
        names: kinds.iter().take(MAX_NAMES).map(|name| shown(&name[CLOSURE.len()..])).collect(),
        are_callers: false,
        are_closures: true,
        alive: whole.exactly(),
        share: Some(whole.bytes.share_of(all)),
        coverage: None,
        left_out: owner_count - owners.len(),
        owners,
        owner_count,
        paths: paths(loaded, recording, &blocks, limit)?,
        boxes: Vec::new(),
    }))
}

/// The kinds of closures of the functions that are meant.
fn kinds<'n>(names: impl Iterator<Item = &'n str>, name: &str) -> Option<Vec<&'n str>> {
    let mut found = [Vec::new(), Vec::new()];
    for kind in names {
        let Some(closure) = kind.strip_prefix(CLOSURE) else { continue };
        let (function, place) = closure.split_once(' ').unwrap_or((closure, ""));
        let rest = function.strip_prefix(name);
        // Functions within one have its name before theirs.
        let is_within = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if is_within || is_line(place, name) {
            found[0].push(kind);
        } else if function.contains(name) {
            found[1].push(kind);
        }
    }
    found.into_iter().find(|kinds| !kinds.is_empty())
}

/// Whether a place, `file.ml:12` or `file.ml:12:4`, is at a line.
fn is_line(place: &str, line: &str) -> bool {
    let rest = place.strip_prefix(line);
    line.contains(':') && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// The paths of some of the blocks, evenly.
fn paths(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    blocks: &[BlockIndex],
    limit: usize,
) -> Result<Vec<PathShare>, ApiError> {
    let every = blocks.len().div_ceil(MAX_PATHS).max(1);
    let some: Vec<(BlockIndex, u64)> =
        blocks.iter().step_by(every).map(|block| (*block, 1)).collect();
    let structures = Some(loaded.structures()?);
    let mut merged = query::weighted_paths(loaded.heap(), &some, structures).map_err(damaged)?;
    let by_samples = Allocated::new(loaded.heap(), &loaded.catalogue, recording);
    for path in merged.iter_mut().take(limit) {
        path.name_steps(by_samples.of_blocks(loaded));
    }
    let share = |path: MergedPath| {
        let mut counted = Counted::default();
        for at in path.members.clone() {
            counted.add(loaded.catalogue.size(some[at as usize].0).bytes());
        }
        PathShare {
            shape: path.shape.iter().map(|step| shown(step)).collect(),
            allocated: path.allocated.clone(),
            share: path.weight as f64 / some.len().max(1) as f64,
            blocks: path.blocks,
            retained: path.retained,
            alive: counted.exactly(),
            example: path.example,
            processes: Vec::new(),
        }
    };
    Ok(merged.into_iter().take(limit).map(share).collect())
}

/// Blocks that were counted.
#[derive(Default)]
struct Counted {
    blocks: u64,
    bytes: Bytes,
}

impl Counted {
    fn add(&mut self, bytes: Bytes) {
        self.blocks += 1;
        self.bytes += bytes;
    }

    fn exactly(&self) -> AliveEstimate {
        let exact = |value| Estimate { value, stderr: 0.0 };
        AliveEstimate {
            bytes: exact(self.bytes.0 as f64),
            blocks: exact(self.blocks as f64),
            sampled: 0,
            allocated: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_of_a_function_are_found_by_name_and_line() {
        let names = [
            "closure Feed.page feed.eliom:37",
            "closure Feed.page.(fun) feed.eliom:40:5",
            "string",
        ];
        let found = |name: &str| kinds(names.into_iter(), name);
        assert_eq!(found("Feed.page"), Some(vec![names[0], names[1]]));
        assert_eq!(found("page.(fun"), Some(vec![names[1]]));
        assert_eq!(found("feed.eliom:40"), Some(vec![names[1]]));
        assert_eq!(found("feed.eliom:4"), None);
        assert_eq!(found("string"), None);
    }
}
