//! Nodes of the dominator tree, as queries and responses name them.

use std::sync::Arc;

use memtrail_heap::graph::{Node, RootNode, RootNodeId, SUPER_ROOT};
use memtrail_heap::query::{self, REST, ShapeId, ShapeOf, Shapes, TreeItem};
use memtrail_heap::{BlockIndex, Bytes, LabelId, RootKind};
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use crate::api_error::ApiError;
use crate::names::shown;

/// Between the kinds of a group that is several steps down.
const STEP: char = '›';

/// A node of the dominator tree.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct NodeInfo {
    /// What queries call it.
    pub node: String,
    /// What it is shown as.
    pub name: String,
    /// Bytes that would be freed without it.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// Of the node that a response is about, how many blocks it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
}

/// A node that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The tree that it is in.
    pub(crate) shapes: Arc<Shapes>,
    /// Where it is there.
    pub(crate) shape: ShapeId,
    /// The node itself, or of a group the one that it is below.
    pub(crate) node: Node,
    /// Of a group: the kinds that lead to it.
    pub(crate) kinds: Vec<String>,
}

/// What a node is called.
pub(crate) fn text(loaded: &LoadedSnapshot, node: Node) -> String {
    match node {
        Node::Block(block) => format!("block:{}", block.0),
        Node::RootNode(root_node) => match loaded.heap().graph.root_nodes().get(root_node) {
            RootNode::Everything => "all".to_owned(),
            RootNode::Kind(kind) => format!("kind:{}", kind.name()),
            RootNode::Label(label) => format!("label:{}", label.0),
        },
    }
}

/// The node of a text that is no group.
fn simple(loaded: &LoadedSnapshot, text: &str) -> Result<Node, ApiError> {
    let root_nodes = loaded.heap().graph.root_nodes();
    let unknown = || ApiError::bad(format_args!("no node {text:?} in the snapshot"));
    let (sort, rest) = text.split_once(':').unwrap_or((text, ""));
    match sort {
        "all" => Ok(Node::RootNode(SUPER_ROOT)),
        "kind" => {
            let kind = RootKind::ALL.iter().find(|kind| kind.name() == rest).ok_or_else(unknown)?;
            Ok(Node::RootNode(root_nodes.kind(*kind)))
        }
        "label" => {
            let label = rest.parse().map(LabelId).map_err(|_| unknown())?;
            loaded.heap().snapshot.labels.get(label).ok_or_else(unknown)?;
            Ok(Node::RootNode(root_nodes.label(label)))
        }
        "block" => {
            let block = rest.parse().map(BlockIndex).map_err(|_| unknown())?;
            let is_there = u64::from(block.0) < loaded.blocks();
            is_there.then_some(Node::Block(block)).ok_or_else(unknown)
        }
        _ => Err(unknown()),
    }
}

/// The root node of a text.
pub(crate) fn root_node(loaded: &LoadedSnapshot, text: &str) -> Result<RootNodeId, ApiError> {
    match simple(loaded, text)? {
        Node::RootNode(root_node) => Ok(root_node),
        Node::Block(_) => Err(ApiError::bad(format_args!("{text} is a block, not a root"))),
    }
}

/// Finds what a text is about.
pub(crate) fn find(loaded: &LoadedSnapshot, text: &str) -> Result<Place, ApiError> {
    let (node, kinds) = match text.strip_prefix("group:").map(|rest| rest.split_once('/')) {
        None => (text, Vec::new()),
        Some(Some((node, kinds))) => (node, kinds.split(STEP).map(str::to_owned).collect()),
        Some(None) => return Err(ApiError::bad(format_args!("no kind in {text:?}"))),
    };
    let node = simple(loaded, node)?;
    let (shapes, mut shape) = match node {
        Node::RootNode(root_node) => {
            let shapes = loaded.shapes.clone();
            let shape = shapes.of_root_node(root_node).unwrap_or(shapes.root());
            (shapes, shape)
        }
        Node::Block(block) => {
            let shapes = loaded.below(block);
            let root = shapes.root();
            (shapes, root)
        }
    };
    for kind in &kinds {
        let is = |shape: &&ShapeId| kind_of(loaded, shapes.get(**shape).form) == Some(kind);
        shape =
            shapes.children(shape).iter().copied().find(|shape| is(&shape)).ok_or_else(|| {
                ApiError::bad(format_args!("nothing of the kind {kind:?} at {text:?}"))
                    .hint("numbers of blocks and roots are those of one snapshot")
            })?;
    }
    Ok(Place { shapes, shape, node, kinds })
}

fn kind_of(loaded: &LoadedSnapshot, form: ShapeOf) -> Option<&str> {
    match form {
        ShapeOf::Kind(kind) => Some(loaded.catalogue.name(kind)),
        ShapeOf::Rest => Some(REST),
        ShapeOf::RootNode(_) | ShapeOf::Block(_) => None,
    }
}

/// What a node is shown as.
pub(crate) fn name(loaded: &LoadedSnapshot, node: Node) -> String {
    shown(&query::node_name(loaded.heap(), &loaded.catalogue, node))
}

/// The name of a shape.
pub(crate) fn shape_name(loaded: &LoadedSnapshot, form: ShapeOf) -> String {
    shown(&query::form_name(loaded.heap(), &loaded.catalogue, form))
}

/// The text of what is in the tree of a place.
pub(crate) fn item_text(loaded: &LoadedSnapshot, place: &Place, item: TreeItem) -> String {
    match item {
        TreeItem::Block(block) => text(loaded, Node::Block(block)),
        TreeItem::Shape(shape) => shape_text(loaded, place, shape),
    }
}

/// The text of a shape below a place: its own for a root node, else its group's.
pub(crate) fn shape_text(loaded: &LoadedSnapshot, place: &Place, shape: ShapeId) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    let mut at = shape;
    let node = loop {
        let here = place.shapes.get(at);
        match here.form {
            ShapeOf::RootNode(root_node) => break Node::RootNode(root_node),
            ShapeOf::Block(block) => break Node::Block(block),
            ShapeOf::Kind(_) | ShapeOf::Rest => kinds.extend(kind_of(loaded, here.form)),
        }
        at = here.parent;
    };
    let node = text(loaded, node);
    if kinds.is_empty() {
        return node;
    }
    kinds.reverse();
    format!("group:{node}/{}", kinds.join(&STEP.to_string()))
}

/// A node as responses describe it.
pub(crate) fn info(loaded: &LoadedSnapshot, node: Node) -> NodeInfo {
    let graph = &loaded.heap().graph;
    let (retained, retained_external) = match node {
        Node::RootNode(root_node) => (graph.held(root_node), graph.held_external(root_node)),
        Node::Block(block) => {
            (loaded.catalogue.retained(loaded.heap(), block), graph.external(block))
        }
    };
    NodeInfo {
        node: text(loaded, node),
        name: name(loaded, node),
        retained: retained.bytes(),
        retained_external,
        blocks: None,
    }
}

/// The node of a place, or its group.
pub(crate) fn place_info(loaded: &LoadedSnapshot, place: &Place) -> NodeInfo {
    if place.kinds.is_empty() {
        info(loaded, place.node)
    } else {
        shape_info(loaded, place, place.shape)
    }
}

fn shape_info(loaded: &LoadedSnapshot, place: &Place, shape: ShapeId) -> NodeInfo {
    let figures = place.shapes.get(shape);
    NodeInfo {
        node: shape_text(loaded, place, shape),
        name: shape_name(loaded, figures.form),
        retained: figures.retained.bytes(),
        retained_external: figures.external,
        blocks: None,
    }
}

/// Maximum number of nodes above one.
const MAX_WAY: usize = 100;

/// The nodes from the one above all down to what dominates a place, the groups that it is in among
/// them; those in the middle of a very long way are left out.
pub(crate) fn way(loaded: &LoadedSnapshot, place: &Place) -> Vec<NodeInfo> {
    let mut nodes = Vec::new();
    let mut at = if place.kinds.is_empty() {
        loaded.heap().graph.dominator(place.node)
    } else {
        Some(place.node)
    };
    let mut root_nodes = Vec::new();
    while let Some(node) = at {
        match node {
            Node::RootNode(_) => root_nodes.push(node),
            Node::Block(_) if nodes.len() < MAX_WAY => nodes.push(node),
            Node::Block(_) => {}
        }
        at = loaded.heap().graph.dominator(node);
    }
    nodes.extend(root_nodes);
    nodes.reverse();
    let mut way: Vec<NodeInfo> = nodes.into_iter().map(|node| info(loaded, node)).collect();
    way.extend(groups_above(loaded, place));
    way
}

/// The groups between a group and the node that all of them are below.
fn groups_above(loaded: &LoadedSnapshot, place: &Place) -> Vec<NodeInfo> {
    let mut groups = Vec::new();
    let mut at = place.shape;
    for _ in 1..place.kinds.len() {
        at = place.shapes.get(at).parent;
        groups.push(shape_info(loaded, place, at));
    }
    groups.reverse();
    groups
}
