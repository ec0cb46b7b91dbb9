//! The answer to [`HeapBlock`].

use memtrail_heap::graph::Node;
use memtrail_heap::query::{self, AllocatedBy, Heap, RetainedGroup as Group, ShapeId};
use memtrail_heap::{BlockIndex, Bytes};
use serde::Serialize;

use super::allocated::Allocated;
use super::loaded::{LoadedSnapshot, damaged};
use super::node::{self, NodeInfo, Place};
use super::paths::{self, PathStep};
use super::samples::BlockSample;
use super::tree::{self, ChildRow};
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::HeapBlock;

/// Maximum number of references of each direction.
const MAX_REFERENCES: usize = 200;

/// All that is known of a block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockResponse {
    /// Its number.
    pub block: BlockIndex,
    /// What queries call it.
    pub node: String,
    /// What sort of block.
    pub kind: String,
    /// Where its first field was in the program's memory.
    pub address: String,
    /// Its own size, header counted.
    pub size: Bytes,
    /// Bytes outside the heap that go with it; none if it is unknown how many.
    pub external: Option<Bytes>,
    /// What it retains, itself counted.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// How many blocks it retains.
    pub blocks: u64,
    /// Which part of memory it is in.
    pub space: &'static str,
    /// Whether anything retains it.
    pub reachable: bool,
    /// How a string begins, as OCaml writes it, where the snapshot has contents.
    pub text: Option<String>,
    /// Bytes of all of it.
    pub text_length: Option<u64>,
    /// Whether there is more of it.
    pub text_is_cut: Option<bool>,
    /// The retaining path, from a root down to it.
    pub path: Vec<PathStep>,
    /// What it points to.
    pub references: Listed<ReferenceRow>,
    /// What points to it.
    pub referenced_by: Listed<ReferrerRow>,
    /// What it dominates directly.
    pub dominates: Listed<ChildRow>,
    /// What dominates it directly.
    pub dominator: Option<NodeInfo>,
    /// Where and when it was allocated, if it was sampled.
    pub sample: Option<BlockSample>,
    /// Where most blocks of its kind in the same place of the graph were allocated, if it has no type.
    pub allocated: Option<AllocatedBy>,
}

/// Some rows, and how many there are.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Listed<T> {
    /// How many there are.
    pub count: u64,
    /// Some of them.
    pub rows: Vec<T>,
}

/// A pointer from a block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReferenceRow {
    /// The field; of keys of ephemerons it is not known.
    pub field: Option<u64>,
    /// What it points to.
    pub block: BlockIndex,
    /// What sort of block that is.
    pub kind: String,
    /// Bytes that would be freed without that block.
    pub retained: Bytes,
    /// Whether it retains nothing.
    pub weak: bool,
}

/// A pointer to a block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReferrerRow {
    /// The block or root that points to it.
    #[serde(flatten)]
    pub from: NodeInfo,
    /// The number of a block.
    pub block: Option<BlockIndex>,
    /// The field of a block; of keys of ephemerons it is not known.
    pub field: Option<u64>,
    /// Whether it retains nothing.
    pub weak: bool,
}

/// What a block retains, in the heap and outside: also data of ephemerons that are charged to other blocks.
fn exact(heap: &Heap<'_>, block: BlockIndex, charged: Bytes) -> Result<(Bytes, Bytes), ApiError> {
    let graph = &heap.graph;
    if graph.is_exact() || !graph.is_reachable(block) {
        return Ok((charged, graph.external(block)));
    }
    let group = Group { blocks: vec![block], ..Group::default() };
    let found = query::retained(heap, &group).map_err(damaged)?;
    Ok((found.retained, found.retained_external))
}

/// What the snapshot has of a block.
pub(super) fn block(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    query: &HeapBlock,
) -> Result<BlockResponse, ApiError> {
    let heap = loaded.heap();
    let index = BlockIndex(query.block);
    let facts = query::block(heap, index, MAX_REFERENCES).map_err(damaged)?;
    let Some(facts) = facts else { return Err(loaded.no_block(index)) };
    let (referrer_count, referrers) =
        query::referrers(heap, index, MAX_REFERENCES).map_err(damaged)?;
    let retained = |block| loaded.catalogue.retained(heap, block).bytes();
    let references = facts.references.iter().map(|reference| ReferenceRow {
        field: reference.field,
        block: reference.to,
        kind: node::name(loaded, Node::Block(reference.to)),
        retained: retained(reference.to),
        weak: reference.weak,
    });
    let referrers = referrers.iter().map(|referrer| ReferrerRow {
        from: node::info(loaded, referrer.from),
        block: match referrer.from {
            Node::Block(block) => Some(block),
            Node::RootNode(_) => None,
        },
        field: referrer.field,
        weak: referrer.weak,
    });
    let path = paths::named_path(loaded, allocated, index, false)?;
    let shapes = loaded.below(index);
    let place = Place { shape: shapes.root(), shapes, node: Node::Block(index), kinds: Vec::new() };
    let (count, dominates) = tree::dominated(loaded, &place, MAX_REFERENCES);
    let shapes = (0..place.shapes.len() as u32).map(|shape| place.shapes.get(ShapeId(shape)));
    let text = loaded.text(index)?;
    let (of_block, of_block_external) = exact(heap, index, retained(index))?;
    Ok(BlockResponse {
        block: index,
        node: node::text(loaded, Node::Block(index)),
        kind: shown(&facts.kind),
        address: format!("0x{:x}", facts.address.0),
        size: facts.size.bytes(),
        external: facts.external,
        retained: of_block,
        retained_external: of_block_external,
        blocks: shapes.map(|shape| shape.blocks).sum(),
        space: facts.space.name(),
        reachable: heap.graph.is_reachable(index),
        text_length: text.as_ref().map(|text| text.length),
        text_is_cut: text.as_ref().map(|text| text.is_cut),
        text: text.map(|text| text.start),
        path: path.as_ref().map_or_else(Vec::new, |path| paths::steps(loaded, path)),
        references: Listed { count: facts.reference_count, rows: references.collect() },
        referenced_by: Listed { count: referrer_count, rows: referrers.collect() },
        dominates: Listed { count: count as u64, rows: dominates },
        dominator: heap.graph.dominator(Node::Block(index)).map(|node| node::info(loaded, node)),
        sample: None,
        allocated: allocated.of_block(heap, &loaded.catalogue, index),
    })
}
