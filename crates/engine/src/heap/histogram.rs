//! The answer to [`HeapHistogram`].

use std::collections::HashMap;

use memtrail_heap::graph::{Node, SUPER_ROOT};
use memtrail_heap::query::{KindOrder, KindRow, ShapeId};
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_profile::calls::Pattern;
use serde::Serialize;

use super::allocated::Allocated;
use super::loaded::LoadedSnapshot;
use super::node::{self, Place};
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::query::{HeapHistogram, KindSort};
use crate::recording::Recording;

/// Parts of a kind at most, by what allocated them.
const MAX_PARTS: usize = 5;

/// How much there is of each kind of block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistogramResponse {
    /// The kinds.
    pub rows: Vec<HistogramRow>,
    /// How many rows there are.
    pub count: usize,
    /// Blocks that something retains.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
    /// Bytes outside the heap that go with them.
    pub external: Bytes,
    /// Blocks that nothing retains and that are not freed yet; unknown of a damaged snapshot.
    pub unreachable_blocks: Option<u64>,
    /// Their size.
    pub unreachable_bytes: Option<Bytes>,
}

/// A kind of block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistogramRow {
    /// Its figures.
    #[serde(flatten)]
    pub kind: KindRow,
    /// Its own size, of all that is alive.
    pub share: f64,
    /// The block that retains most where most of the kind is.
    pub example: Option<BlockIndex>,
    /// Where most of the kind is, unless that is not shown separately.
    pub most: Option<KindPlace>,
}

/// What hangs at a place of the dominator tree of a kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KindPlace {
    /// What queries call it.
    pub node: String,
    /// The size of the blocks there.
    pub bytes: Bytes,
    /// How many.
    pub blocks: u64,
}

pub(super) fn histogram(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapHistogram,
) -> Result<HistogramResponse, ApiError> {
    let owner = query.owner.as_deref().map(|owner| node::root_node(loaded, owner)).transpose()?;
    let owned = owner.map(|owner| loaded.owned_histogram(owner)).transpose()?;
    let histogram = match &owned {
        Some(owned) => owned,
        None => loaded.histogram()?,
    };
    let pattern = (!query.find.is_empty()).then(|| Pattern::text(&query.find));
    let wanted = |kind: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(kind));
    let rows = histogram.select(wanted, query.sort.into(), query.descending);
    let count = rows.len();
    let mut bounds = Rows::new(query.limit);
    let owners = owner.map(|owner| vec![loaded.owner_called(owner)]);
    let allocated = Allocated::new(loaded.heap(), &loaded.catalogue, recording);
    let mut parts = if allocated.is_empty() {
        HashMap::new()
    } else {
        allocated.parts(loaded.untyped_places(), owners.as_deref())
    };
    for parts in parts.values_mut() {
        parts.truncate(MAX_PARTS);
    }
    let parts_of =
        |row: &KindRow| loaded.catalogue.find(&row.kind).and_then(|kind| parts.get(&kind));
    let shown = bounds.affordable(&rows[query.offset.min(count)..], |row| {
        160 + row.kind.len() + parts_of(row).map_or(0, |parts| parts.len() * 400)
    });
    let rows = shown.iter().map(|row| {
        let most = loaded.most_of(&row.kind);
        HistogramRow {
            kind: KindRow {
                allocated: parts_of(row).cloned().unwrap_or_default(),
                ..(*row).clone()
            },
            share: row.bytes.share_of(histogram.bytes),
            example: most.map(|most| most.block),
            most: most.and_then(|most| most.shape).map(|shape| place(loaded, shape)),
        }
    });
    Ok(HistogramResponse {
        rows: rows.collect(),
        count,
        blocks: histogram.blocks,
        bytes: histogram.bytes,
        external: histogram.external(),
        unreachable_blocks: histogram.unreachable_blocks,
        unreachable_bytes: histogram.unreachable_bytes,
    })
}

/// The place where most of a kind is: what hangs there of it.
fn place(loaded: &LoadedSnapshot, shape: ShapeId) -> KindPlace {
    let shapes = loaded.shapes.clone();
    let of_kind = *shapes.get(shape);
    let place = Place { shape, shapes, node: Node::RootNode(SUPER_ROOT), kinds: Vec::new() };
    KindPlace {
        node: node::shape_text(loaded, &place, shape),
        bytes: of_kind.own.bytes(),
        blocks: of_kind.blocks,
    }
}

impl From<KindSort> for KindOrder {
    fn from(sort: KindSort) -> Self {
        match sort {
            KindSort::Bytes => Self::Bytes,
            KindSort::Blocks => Self::Blocks,
            KindSort::Retained => Self::Retained,
            KindSort::External => Self::External,
            KindSort::Name => Self::Name,
        }
    }
}
