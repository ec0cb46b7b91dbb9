//! The answers to [`HeapTreemap`] and [`HeapFlame`]: the dominator tree merged by shape, as boxes.

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, BoxLimits, NestedBox};
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::node::{self, NodeInfo, Place};
use crate::api_error::ApiError;
use crate::names::Budget;
use crate::query::{HeapFlame, HeapTreemap};

/// Maximum number of boxes.
const MAX_BOXES: usize = 4000;
/// Maximum number of boxes inside one another.
const MAX_DEPTH: usize = 200;
/// What boxes of what was left out are called.
const OTHER: &str = "other";

/// What a node retains, as nested boxes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TreemapResponse {
    /// The node that was queried.
    pub node: NodeInfo,
    /// The nodes above it, from the super-root down.
    pub path: Vec<NodeInfo>,
    /// The boxes, parents before their children.
    pub boxes: Vec<BoxRow>,
}

/// The retaining paths from a node down, as nested boxes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HeapFlameResponse"))]
pub struct FlameResponse {
    /// The node that was queried.
    pub node: NodeInfo,
    /// The nodes above it, from the super-root down.
    pub path: Vec<NodeInfo>,
    /// The size of the first box.
    pub total: Bytes,
    /// The boxes, parents before their children.
    pub boxes: Vec<BoxRow>,
}

/// A box of a nested picture.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BoxRow {
    /// What queries call it, if it is a node and there was room for its name.
    pub node: Option<String>,
    /// Its name; empty where there was no room for it.
    pub name: String,
    /// Its place and size.
    #[serde(flatten)]
    pub figures: NestedBox,
}

fn limits(boxes: usize, depth: usize) -> BoxLimits {
    BoxLimits { boxes: boxes.min(MAX_BOXES), depth: depth.min(MAX_DEPTH) }
}

/// Boxes with their names, as far as there is room for these.
fn named(loaded: &LoadedSnapshot, place: &Place, boxes: Vec<NestedBox>) -> Vec<BoxRow> {
    let mut budget = Budget::large();
    let rows = boxes.into_iter().map(|figures| {
        let Some(form) = figures.form else {
            return BoxRow { node: None, name: OTHER.to_owned(), figures };
        };
        let name = node::shape_name(loaded, form);
        let node = figures.item.map(|item| node::item_text(loaded, place, item));
        let bytes = 120 + name.len() + node.as_ref().map_or(0, String::len);
        let (node, name) = if budget.take(bytes) { (node, name) } else { (None, String::new()) };
        BoxRow { node, name, figures }
    });
    rows.collect()
}

pub(super) fn treemap(
    loaded: &LoadedSnapshot,
    query: &HeapTreemap,
) -> Result<TreemapResponse, ApiError> {
    let place = node::find(loaded, &query.node)?;
    let limits = limits(query.limit, query.depth);
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let boxes = query::nested_boxes(heap, catalogue, &place.shapes, place.shape, limits);
    Ok(TreemapResponse {
        node: node::info(loaded, place.node),
        path: node::way(loaded, &place),
        boxes: named(loaded, &place, boxes),
    })
}

pub(super) fn flame(loaded: &LoadedSnapshot, query: &HeapFlame) -> Result<FlameResponse, ApiError> {
    let place = node::find(loaded, &query.node)?;
    let shapes = &place.shapes;
    let weights = match &query.kind {
        None => None,
        Some(kind) => {
            let kind = loaded.catalogue.find(kind).ok_or_else(|| {
                ApiError::bad(format_args!("nothing is a {kind:?}"))
                    .hint("the histogram has the names of kinds")
            })?;
            Some(shapes.leading_to(kind))
        }
    };
    let limits = limits(query.limit, MAX_DEPTH);
    let boxes = query::path_boxes(shapes, place.shape, limits, weights.as_deref());
    Ok(FlameResponse {
        node: node::info(loaded, place.node),
        path: node::way(loaded, &place),
        total: boxes.first().map_or(Bytes(0), |first| first.retained),
        boxes: named(loaded, &place, boxes),
    })
}
