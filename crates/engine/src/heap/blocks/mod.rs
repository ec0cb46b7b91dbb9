//! The answer to [`HeapBlocks`]: the blocks that a filter wants.

mod filter;
mod matching;

use std::collections::{BinaryHeap, HashMap};

use memtrail_heap::graph::{Node, RootNodeId, SUPER_ROOT};
use memtrail_heap::query::OwnerRow;
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_order::SortRows as _;
use memtrail_profile::filter::ConditionError;
use memtrail_profile::time::Elapsed;
use serde::Serialize;

use self::filter::BlockFilter;
use self::matching::{Ages, Matcher};
use super::join::live;
use super::loaded::LoadedSnapshot;
use super::node;
use super::over_time::TakenAt;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{BlockSort, HeapBlocks};
use crate::recording::Recording;

/// Blocks that can be listed, at most: those first in order.
const MAX_LISTED: usize = 100_000;

/// Blocks that a filter wants.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlocksResponse {
    /// Some of them, in order.
    pub rows: Vec<BlockRow>,
    /// How many there are.
    pub count: usize,
    /// How many of these can be listed: those first in order.
    pub listed: usize,
    /// Their own size, headers counted.
    pub size: Bytes,
    /// All reachable blocks.
    pub of: u64,
    /// Rows that are left out.
    pub left_out: usize,
}

/// A block of a list.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockRow {
    /// In a family, the recording of its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub recording: Option<String>,
    /// The name of the process.
    #[serde(skip)]
    pub process: Option<String>,
    /// Its number.
    pub block: BlockIndex,
    /// Its kind.
    pub kind: String,
    /// Its own size, header counted.
    pub size: Bytes,
    /// Bytes outside the heap that go with it.
    pub external: Bytes,
    /// Bytes that would be freed without it.
    pub retained: Bytes,
    /// What it retains, of all that is reachable.
    pub share: f64,
    /// The root that owns it.
    pub owner: Option<String>,
    /// What queries call that root.
    pub owner_node: Option<String>,
    /// Seconds from its allocation to the snapshot, if it was sampled.
    pub age: Option<f64>,
}

pub(super) fn blocks(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapBlocks,
    taken: TakenAt,
) -> Result<BlocksResponse, ApiError> {
    let filter = BlockFilter::parse(&query.filter).map_err(wrong)?;
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let ages = ages(loaded, recording, taken);
    let matcher = Matcher::new(loaded, &filter, &ages)?;
    let by_name = names_in_order(loaded);
    let figure = |block: BlockIndex| match query.sort {
        BlockSort::Retained => catalogue.retained(heap, block).0,
        BlockSort::Size => catalogue.size(block).0,
        // Those of unknown age are the youngest.
        BlockSort::Age => ages.get(&block).map_or(0, |age| age.0.saturating_add(1)),
        BlockSort::Block => u64::from(block.0),
        BlockSort::Name => by_name[usize::from(catalogue.kind(block).0).min(by_name.len() - 1)],
    };
    let wanted = query.offset.saturating_add(query.limit).min(MAX_LISTED);
    // The last in order of those that are to be listed is on top.
    let mut first: BinaryHeap<(u64, u32)> = BinaryHeap::with_capacity(wanted + 1);
    let (mut count, mut size, mut of) = (0usize, Bytes(0), 0u64);
    for block in (0..catalogue.len() as u32).map(BlockIndex) {
        if !heap.graph.is_reachable(block) {
            continue;
        }
        of += 1;
        if !matcher.wants(block) {
            continue;
        }
        count += 1;
        size += catalogue.size(block).bytes();
        let figure = figure(block);
        let key = (if query.descending { u64::MAX - figure } else { figure }, block.0);
        if first.len() < wanted {
            first.push(key);
        } else if first.peek().is_some_and(|last| key < *last) {
            first.pop();
            first.push(key);
        }
    }
    let listed = first.into_sorted_vec();
    let rest = &listed[query.offset.min(listed.len())..];
    let owners: HashMap<RootNodeId, &OwnerRow> =
        loaded.owners().rows.iter().map(|row| (row.owner, row)).collect();
    let rows: Vec<BlockRow> = rest
        .iter()
        .map(|(_, block)| {
            let block = BlockIndex(*block);
            let owner = heap.graph.owner(block).and_then(|owner| owners.get(&owner));
            let retained = catalogue.retained(heap, block).bytes();
            BlockRow {
                recording: None,
                process: None,
                block,
                kind: shown(catalogue.name(catalogue.kind(block))),
                size: catalogue.size(block).bytes(),
                external: catalogue.external(block),
                retained,
                share: retained.share_of(heap.graph.held(SUPER_ROOT).bytes()),
                owner: owner.map(|row| shown(&row.name())),
                owner_node: owner.map(|row| node::text(loaded, Node::RootNode(row.root))),
                age: ages.get(&block).map(|age| age.seconds()),
            }
        })
        .collect();
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let mut bounds = Rows::new(query.limit);
    let rows = bounds
        .affordable(&rows, |row| 220 + row.kind.len() + text(&row.owner) + text(&row.owner_node))
        .to_vec();
    let left_out = count - rows.len();
    Ok(BlocksResponse { rows, count, listed: count.min(MAX_LISTED), size, of, left_out })
}

/// How long ago the sampled blocks were allocated.
fn ages(loaded: &LoadedSnapshot, recording: &Recording, TakenAt(taken): TakenAt) -> Ages {
    let blocks = &recording.profile().blocks;
    let age = |at: f64| Elapsed(((taken - at).max(0.0) * 1e6) as u64);
    live(loaded, recording)
        .map(|one| (one.block, age(blocks.allocated(one.row).seconds())))
        .collect()
}

/// For each kind its place in alphabetical order; last of all what has no name of its own.
fn names_in_order(loaded: &LoadedSnapshot) -> Vec<u64> {
    let mut order: Vec<(usize, &str)> = loaded.catalogue.names().enumerate().collect();
    order.sort_rows_by(|a, b| a.1.cmp(b.1));
    let mut places = vec![u64::MAX / 2; order.len() + 1];
    for (place, (kind, _)) in order.into_iter().enumerate() {
        places[kind] = place as u64;
    }
    places
}

fn wrong(error: ConditionError) -> ApiError {
    let ConditionError { at, message, hint } = error;
    let refused = ApiError::bad(format_args!("{message}, at character {at}"));
    match hint {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}
