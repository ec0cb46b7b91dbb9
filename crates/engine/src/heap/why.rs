//! The answer to [`HeapWhy`]: what retains what a function allocated.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memtrail_heap::graph::{Node, RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{self, AllocatedBy, MergedPath, OwnerRow};
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_order::SortRows as _;
use memtrail_profile::calls;
use memtrail_trace::Site;
use serde::Serialize;

use super::allocated;
use super::coverage::{Coverage, coverage};
use super::join::{AliveEstimate, Live, Tally, live};
use super::loaded::{LoadedSnapshot, damaged};
use super::node;
use super::parts::{AlivePart, Part};
use super::sampled_boxes::{PathTree, SampledBox, StepName};
use super::samples::sites;
use crate::api_error::ApiError;
use crate::flame::keys;
use crate::library_units::{installed_units, is_own_name};
use crate::names::shown;
use crate::query::HeapWhy;
use crate::recording::Recording;

/// Functions that are named at most.
pub(super) const MAX_NAMES: usize = 10;
/// Owners and paths at most.
pub(super) const MAX_ROWS: usize = 500;
/// Blocks at most whose paths are looked at: some of all, evenly.
pub(super) const MAX_PATHS: usize = 4000;

/// What retains what a function allocated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WhyResponse {
    /// The functions that are meant.
    pub names: Vec<String>,
    /// Whether they are on the callstacks of allocations, but allocate nothing that is alive themselves.
    pub are_callers: bool,
    /// Whether they are closures of these functions instead, all that the snapshot has: nothing that the functions allocated
    /// is alive and sampled. The figures are exact then.
    pub are_closures: bool,
    /// What of it is alive.
    pub alive: AliveEstimate,
    /// Its share of all that is alive, in one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(as = "f64"))]
    pub share: Option<f64>,
    /// Whether all blocks that are alive by the trace, of any function, were found in the snapshot; absent if it is
    /// unknown when that was taken.
    pub coverage: Option<Coverage>,
    /// The roots that own it, those of most first.
    pub owners: Vec<OwnerShare>,
    /// How many owners there are.
    pub owner_count: usize,
    /// Owners that are left out.
    pub left_out: usize,
    /// The paths by which it is retained, those of the same shape as one, the most frequent first.
    pub paths: Vec<PathShare>,
    /// All paths as nested boxes, if the query wants any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<SampledBox>,
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
    /// What queries call it.
    pub node: String,
    /// What it owns of them.
    pub alive: AliveEstimate,
    /// Of all of them.
    pub share: f64,
    /// One of the blocks.
    pub example: BlockIndex,
    /// Its parts in the processes of a family, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub processes: Vec<Part<AlivePart>>,
}

/// Retaining paths of the same shape.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PathShare {
    /// The shape: names from the root to the block, with fields.
    pub shape: Vec<String>,
    /// For each of these what allocated most of its blocks, where they have no type and that is known; empty if it is not
    /// known of any.
    pub allocated: Vec<Option<AllocatedBy>>,
    /// Of all the bytes, an estimate.
    pub share: f64,
    /// How many sampled blocks are retained this way.
    pub blocks: u64,
    /// What these retain one by one.
    pub retained: Bytes,
    /// All blocks that are retained this way, sampled or not. Of very many only some paths were looked at.
    pub alive: AliveEstimate,
    /// One of them.
    pub example: BlockIndex,
    /// Its parts in the processes of a family, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub processes: Vec<Part<AlivePart>>,
}

/// The answer; none if nothing is alive and sampled.
pub(super) fn why(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapWhy,
) -> Result<Option<WhyResponse>, ApiError> {
    let (heap, profile) = (loaded.heap(), recording.profile());
    let meant = if query.path.is_empty() {
        called(loaded, recording, query)
    } else {
        allocated_below(loaded, recording, query)?
    };
    let Some(Allocated { names, are_callers, blocks }) = meant else {
        return Ok(None);
    };
    let mut whole = Tally::default();
    let mut of_owner: HashMap<RootNodeId, (Tally, BlockIndex)> = HashMap::new();
    let mut root_of = heap.graph.owners_one_by_one();
    for one in &blocks {
        whole.add(profile, *one);
        let owner = root_of.get(one.block).unwrap_or(SUPER_ROOT);
        let (tally, _) = of_owner.entry(owner).or_insert_with(|| (Tally::default(), one.block));
        tally.add(profile, *one);
    }
    let samples = whole.samples().max(1) as f64;
    let rows: HashMap<RootNodeId, &OwnerRow> =
        loaded.owners().rows.iter().map(|row| (row.owner, row)).collect();
    let mut owners: Vec<(RootNodeId, (Tally, BlockIndex))> = of_owner.into_iter().collect();
    owners.sort_rows_by_key(|(owner, (tally, _))| (Reverse(tally.samples()), *owner));
    let owner_count = owners.len();
    let owners = owners.into_iter().take(query.limit.min(MAX_ROWS)).filter_map(
        |(owner, (tally, example))| {
            let share = tally.samples() as f64 / samples;
            Some(owner_share(loaded, rows.get(&owner)?, tally.finish(profile), share, example))
        },
    );
    let owners: Vec<OwnerShare> = owners.collect();
    let every = blocks.len().div_ceil(MAX_PATHS).max(1);
    let some: Vec<Live> = blocks.iter().step_by(every).copied().collect();
    let weighted: Vec<(BlockIndex, u64)> =
        some.iter().map(|one| (one.block, profile.blocks.samples(one.row))).collect();
    let weight = weighted.iter().map(|(_, samples)| *samples).sum::<u64>().max(1) as f64;
    let structures = Some(loaded.structures()?);
    let mut merged = query::weighted_paths(heap, &weighted, structures).map_err(damaged)?;
    let by_samples = allocated::Allocated::new(heap, &loaded.catalogue, recording);
    let limit = query.limit.min(MAX_ROWS);
    for path in merged.iter_mut().take(limit) {
        path.name_steps(by_samples.of_blocks(loaded));
    }
    let members = |path: &MergedPath| path.members.clone().into_iter().map(|at| some[at as usize]);
    let paths = merged.iter().take(limit).map(|path| {
        let mut tally = Tally::default();
        members(path).for_each(|one| tally.add(profile, one));
        PathShare {
            shape: path.shape.iter().map(|step| shown(step)).collect(),
            allocated: path.allocated.clone(),
            share: path.weight as f64 / weight,
            blocks: path.blocks,
            retained: path.retained,
            alive: tally.finish(profile),
            example: path.example,
            processes: Vec::new(),
        }
    });
    let paths = paths.collect();
    let boxes = if query.boxes > 0 {
        let mut tree = PathTree::new();
        for path in &merged {
            members(path).for_each(|one| tree.add(profile, one, path.shape.iter()));
        }
        let name = |step: &&String| StepName { name: shown(step), key: None, place: None };
        tree.finish(profile, query.boxes, &names.join(", "), name)
    } else {
        Vec::new()
    };
    let alive = whole.finish(profile);
    let all = heap.graph.held(SUPER_ROOT).bytes() + heap.graph.held_external(SUPER_ROOT);
    let share = if all.0 == 0 { 0.0 } else { alive.bytes.value / all.0 as f64 };
    let coverage = coverage(loaded, recording);
    Ok(Some(WhyResponse {
        names,
        are_callers,
        are_closures: false,
        alive,
        share: Some(share),
        coverage,
        left_out: owner_count - owners.len(),
        owners,
        owner_count,
        paths,
        boxes,
    }))
}

/// That nothing is.
pub(super) fn nothing(query: &HeapWhy, recording: &Recording) -> ApiError {
    let what = if query.path.is_empty() { query.name.clone() } else { query.path.join(" → ") };
    if recording.description.impossible {
        return ApiError::absent(format_args!(
            "what {what:?} allocated is not known: the recording has no allocations"
        ));
    }
    ApiError::absent(format_args!("nothing that {what:?} allocated is alive and sampled"))
}

/// What a root owns of some blocks.
pub(super) fn owner_share(
    loaded: &LoadedSnapshot,
    row: &OwnerRow,
    alive: AliveEstimate,
    share: f64,
    example: BlockIndex,
) -> OwnerShare {
    OwnerShare {
        name: shown(&row.name()),
        kind: row.kind,
        r#type: row.r#type.as_deref().map(shown),
        position: row.position.as_deref().map(shown),
        root: row.root,
        node: node::text(loaded, Node::RootNode(row.root)),
        alive,
        share,
        example,
        processes: Vec::new(),
    }
}

/// What functions allocated that is alive.
struct Allocated {
    names: Vec<String>,
    are_callers: bool,
    blocks: Vec<Live>,
}

/// Whether a known name is the one that is meant.
type Comparison = fn(&str, &str) -> bool;

/// What a name means: the functions called so that allocate, themselves or in libraries that they call, else those with
/// it in their names, else those that are called so or have it in their names anywhere on the callstacks.
/// `file.ml:12` is a line.
fn called(loaded: &LoadedSnapshot, recording: &Recording, query: &HeapWhy) -> Option<Allocated> {
    let name = &*query.name;
    let all: Vec<Live> = live(loaded, recording).collect();
    let installed = installed_units(recording);
    let is_exact = |known: &str, name: &str| known == name;
    let is_like = |known: &str, name: &str| known.contains(name);
    for (are_callers, is) in
        [(false, is_exact as Comparison), (false, is_like), (true, is_exact), (true, is_like)]
    {
        if query.within && !are_callers {
            continue;
        }
        let is_meant = |site: &Site| is_called(recording, *site, name, is);
        let mut names: Vec<String> = Vec::new();
        let mut blocks = Vec::new();
        for one in &all {
            // What a library allocated was allocated by the nearest function of the program's own, too.
            let mut is_within = true;
            let within = sites(recording, one.row).take_while(|site| {
                std::mem::replace(
                    &mut is_within,
                    are_callers || !is_own(recording, *site, &installed),
                )
            });
            let Some(site) = within.into_iter().find(|site| is_meant(site)) else {
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

/// What was allocated below a call path.
fn allocated_below(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapWhy,
) -> Result<Option<Allocated>, ApiError> {
    let selection = recording.choose_with(&query.transforms, query.recursion.into())?;
    let entities = &recording.entities;
    let Some(path) = keys(entities, &query.path) else { return Ok(None) };
    let below = calls::below(selection.view(entities), &path);
    let stacks = &recording.profile().blocks;
    let blocks: Vec<Live> =
        live(loaded, recording).filter(|one| below.has(stacks.stack(one.row))).collect();
    let names = path.last().map(|&last| shown(entities.name(last))).into_iter().collect();
    let is_site = path.last().is_some_and(|&last| entities.kind(last) == calls::Kind::Site);
    Ok((!blocks.is_empty()).then_some(Allocated { names, are_callers: !is_site, blocks }))
}

/// Whether a call is in the program's own code.
fn is_own(recording: &Recording, site: Site, installed: &HashSet<&str>) -> bool {
    recording.entities.of_function(site.function).is_some_and(|entity| {
        let name = recording.entities.name(entity);
        is_own_name(name, |unit| installed.contains(unit))
    })
}

/// Whether the function of a site, its line, or the site itself has a name.
fn is_called(recording: &Recording, site: Site, name: &str, is: Comparison) -> bool {
    let entities = &recording.entities;
    if let Some((file, line)) = name.rsplit_once(':')
        && let Ok(line) = line.parse::<u32>()
    {
        let place = recording.profile().locations.resolve(site);
        return place.line == line && is(entities.file_name(site.file), file);
    }
    // The key of a site has the function's name in it, and so would a part of it.
    entities.of_site(site).is_some_and(|entity| entities.key(entity) == name)
        || entities
            .of_function(site.function)
            .is_some_and(|entity| is(entities.name(entity), name) || is(entities.key(entity), name))
}
