//! The answer to [`HeapChildren`].

use memtrail_heap::query::{self, Child, ChildOrder};
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::node::{self, NodeInfo, Place};
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{ChildSort, HeapChildren};

/// Bytes that a row takes in a response, without its node.
const ROW: usize = 300;

/// What a node of the dominator tree alone retains.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChildrenResponse {
    /// The node that was queried.
    pub node: NodeInfo,
    /// The nodes above it, from the super-root down.
    pub path: Vec<NodeInfo>,
    /// What is directly below it.
    pub rows: Vec<ChildRow>,
    /// How many rows there are.
    pub count: usize,
}

/// A root, a group of blocks of a kind, or a block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChildRow {
    /// What queries call it.
    pub node: String,
    /// Its figures.
    #[serde(flatten)]
    pub child: Child,
}

pub(super) fn children(
    loaded: &LoadedSnapshot,
    query: &HeapChildren,
) -> Result<ChildrenResponse, ApiError> {
    let place = node::find(loaded, &query.node)?;
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let mut children = if place.kinds.is_empty() {
        query::children(heap, catalogue, &place.shapes, place.shape)
    } else {
        query::group_members(heap, catalogue, &place.shapes, place.shape)
    };
    query::sort_children(&mut children, query.sort.into(), query.descending);
    let count = children.len();
    let mut bounds = Rows::new(query.limit);
    let rows: Vec<ChildRow> = children
        .into_iter()
        .skip(query.offset)
        .take(bounds.limit())
        .map(|child| row(loaded, &place, child))
        .collect();
    let affordable = bounds.affordable(&rows, |row| ROW + row.node.len()).to_vec();
    let blocks = Some(place.shapes.get(place.shape).tops);
    let info = NodeInfo { blocks, ..node::place_info(loaded, &place) };
    let path = node::way(loaded, &place);
    Ok(ChildrenResponse { node: info, path, rows: affordable, count })
}

/// What hangs below a block, those that retain most first; and how many there are.
pub(super) fn dominated(
    loaded: &LoadedSnapshot,
    place: &Place,
    most: usize,
) -> (usize, Vec<ChildRow>) {
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let children = query::children(heap, catalogue, &place.shapes, place.shape);
    let count = children.len();
    let some = children.into_iter().take(most);
    (count, some.map(|child| row(loaded, place, child)).collect())
}

fn row(loaded: &LoadedSnapshot, place: &Place, mut child: Child) -> ChildRow {
    child.name = shown(&child.name);
    ChildRow { node: node::item_text(loaded, place, child.item), child }
}

impl From<ChildSort> for ChildOrder {
    fn from(sort: ChildSort) -> Self {
        match sort {
            ChildSort::Retained => Self::Retained,
            ChildSort::Bytes => Self::Bytes,
            ChildSort::Blocks => Self::Blocks,
            ChildSort::Name => Self::Name,
        }
    }
}
