//! What hangs directly below a node of the dominator tree, merged by shape.

use memtrail_order::SortRows as _;
use serde::Serialize;

use super::catalogue::Catalogue;
use super::heap::Heap;
use super::names::root_name;
use super::shapes::{ShapeId, ShapeOf, Shapes};
use crate::graph::{Node, SUPER_ROOT};
use crate::units::{BlockIndex, Bytes};

/// A child: a root node, a group of blocks of a kind, or a block.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ChildFigures"))]
pub struct Child {
    /// What it is in the tree.
    #[serde(skip)]
    pub item: TreeItem,
    /// Its name, or the kind of its blocks.
    pub name: String,
    /// What sort of child.
    pub what: NodeKind,
    /// What it retains, of all that is alive.
    pub share: f64,
    /// Blocks of it that hang from no other of it.
    pub blocks: u64,
    /// Their own size, and that of the blocks of the kind below them.
    pub bytes: Bytes,
    /// What it retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// Of blocks, the one that retains most.
    pub largest: Option<BlockIndex>,
    /// Whether anything is below it.
    pub opens: bool,
}

/// A child of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeItem {
    /// A root node or group.
    Shape(ShapeId),
    /// A single block.
    Block(BlockIndex),
}

/// Sorts of nodes in the dominator tree merged by shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HeapNodeKind"))]
pub enum NodeKind {
    /// A root, or a whole kind of roots.
    #[serde(rename = "holder")]
    RootNode,
    /// Blocks of a kind.
    Group,
    /// A block.
    Block,
    /// What there was no room for.
    Rest,
}

impl From<ShapeOf> for NodeKind {
    fn from(form: ShapeOf) -> Self {
        match form {
            ShapeOf::RootNode(_) => Self::RootNode,
            ShapeOf::Block(_) => Self::Block,
            ShapeOf::Kind(_) | ShapeOf::Rest => Self::Group,
        }
    }
}

/// What children are put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildOrder {
    /// What it retains.
    Retained,
    /// Own size.
    Bytes,
    /// Number of blocks.
    Blocks,
    /// The name.
    Name,
}

/// The root nodes and groups below a shape, those that retain most first. A group of one block is
/// that block.
pub fn children(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    shapes: &Shapes,
    parent: ShapeId,
) -> Vec<Child> {
    let child = |id: &ShapeId| {
        let shape = shapes.get(*id);
        match (shape.form, shape.largest) {
            (ShapeOf::Kind(_), Some(block)) if shape.tops == 1 => {
                single_child(heap, catalogue, block)
            }
            (form, largest) => Child {
                item: TreeItem::Shape(*id),
                name: form_name(heap, catalogue, form),
                what: form.into(),
                share: share(heap, shape.retained.bytes()),
                blocks: shape.tops,
                bytes: shape.own.bytes(),
                retained: shape.retained.bytes(),
                retained_external: shape.external,
                largest: if matches!(form, ShapeOf::RootNode(_)) { None } else { largest },
                opens: true,
            },
        }
    };
    shapes.children(parent).iter().map(child).collect()
}

/// The blocks of a group that hang from no other of it, those that retain most first.
pub fn group_members(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    shapes: &Shapes,
    group: ShapeId,
) -> Vec<Child> {
    let blocks = shapes.tops(heap, catalogue, group).into_iter();
    blocks.map(|block| single_child(heap, catalogue, block)).collect()
}

fn single_child(heap: &Heap<'_>, catalogue: &Catalogue, block: BlockIndex) -> Child {
    let bytes = catalogue.size(block).bytes();
    let retained = catalogue.retained(heap, block).bytes();
    Child {
        item: TreeItem::Block(block),
        name: node_name(heap, catalogue, Node::Block(block)),
        what: NodeKind::Block,
        share: share(heap, retained),
        blocks: 1,
        bytes,
        retained,
        retained_external: heap.graph.external(block),
        largest: Some(block),
        opens: retained > bytes,
    }
}

fn share(heap: &Heap<'_>, retained: Bytes) -> f64 {
    retained.share_of(heap.graph.held(SUPER_ROOT).bytes())
}

/// Puts children in order that come with those that retain most first.
pub fn sort_children(children: &mut [Child], order: ChildOrder, descending: bool) {
    match order {
        ChildOrder::Retained if descending => return,
        ChildOrder::Retained => children.sort_rows_by_key(|child| child.retained),
        ChildOrder::Bytes => children.sort_rows_by_key(|child| child.bytes),
        ChildOrder::Blocks => children.sort_rows_by_key(|child| child.blocks),
        ChildOrder::Name => children.sort_rows_by(|a, b| a.name.cmp(&b.name)),
    }
    if descending {
        children.reverse();
    }
}

/// What a node of the dominator tree is called: a block by its kind.
pub fn node_name(heap: &Heap<'_>, catalogue: &Catalogue, node: Node) -> String {
    match node {
        Node::RootNode(root_node) => {
            root_name(&heap.snapshot.labels, heap.graph.root_nodes(), root_node)
        }
        Node::Block(block) => catalogue.name(catalogue.kind(block)).to_owned(),
    }
}

/// What a shape is called.
pub fn form_name(heap: &Heap<'_>, catalogue: &Catalogue, form: ShapeOf) -> String {
    match form {
        ShapeOf::RootNode(root_node) => node_name(heap, catalogue, Node::RootNode(root_node)),
        ShapeOf::Block(block) => node_name(heap, catalogue, Node::Block(block)),
        ShapeOf::Kind(kind) => catalogue.name(kind).to_owned(),
        ShapeOf::Rest => REST.to_owned(),
    }
}

/// What shapes of too many kinds are called.
pub const REST: &str = "other kinds, deeper";
