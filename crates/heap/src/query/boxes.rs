//! The dominator tree merged by shape, as nested boxes: the heaviest ones, and what is left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use super::catalogue::Catalogue;
use super::children::{NodeKind, TreeItem};
use super::heap::Heap;
use super::shapes::{ShapeId, ShapeOf, Shapes};
use crate::units::{BlockIndex, Bytes, Words};

/// A box; parents come before their children.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "BoxFigures"))]
pub struct NestedBox {
    /// The box around it, by its place; the first is in none.
    pub parent: usize,
    /// What it is in the tree; nothing if it is what was left out.
    #[serde(skip)]
    pub item: Option<TreeItem>,
    /// What it is of.
    #[serde(skip)]
    pub form: Option<ShapeOf>,
    /// What sort of node.
    pub what: NodeKind,
    /// Its size: what it retains.
    pub retained: Bytes,
    /// The own size of its blocks; along paths, what is in no box inside it.
    pub own: Bytes,
    /// Bytes outside the heap that go with what it retains, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub retained_external: Option<Bytes>,
    /// How many blocks.
    pub blocks: u64,
    /// The block of it that retains most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub largest: Option<BlockIndex>,
}

/// How many boxes there may be.
#[derive(Clone, Copy, Debug)]
pub struct BoxLimits {
    /// All of them.
    pub boxes: usize,
    /// Inside one another.
    pub depth: usize,
}

/// A box that is being placed: its shape, its parent among the boxes, its width.
struct Piece {
    shape: ShapeId,
    parent: usize,
    words: u64,
    /// What of the width is in boxes inside it.
    inside: u64,
    /// Boxes inside it that there was no room for: their widths and blocks.
    left_out: (u64, u64),
}

/// The heaviest boxes below a shape, parents before children, siblings heaviest first.
fn pieces(
    shapes: &Shapes,
    root: ShapeId,
    limits: BoxLimits,
    words: impl Fn(ShapeId) -> u64,
) -> Vec<Piece> {
    let (limit, depth) = (limits.boxes.max(1), limits.depth.max(1));
    let mut pieces: Vec<Piece> = Vec::new();
    // Heaviest first; of the same weight, the one that was found first.
    let mut waiting = BinaryHeap::new();
    let mut found = 0u64;
    waiting.push((words(root), Reverse(found), root, 0, 0));
    while let Some((weight, _, shape, parent, level)) = waiting.pop() {
        if level > 0 {
            pieces[parent].inside += weight;
        }
        let number = pieces.len();
        pieces.push(Piece { shape, parent, words: weight, inside: 0, left_out: (0, 0) });
        if number + 1 >= limit {
            for (weight, _, shape, parent, _) in waiting.drain() {
                let outer: &mut Piece = &mut pieces[parent];
                outer.left_out.0 += weight;
                outer.left_out.1 += shapes.get(shape).tops;
            }
            break;
        }
        if level >= depth {
            continue;
        }
        for child in shapes.children(shape) {
            let weight = words(*child);
            if weight > 0 {
                found += 1;
                waiting.push((weight, Reverse(found), *child, number, level + 1));
            }
        }
    }
    pieces
}

/// What a shape retains, as nested boxes. What there is no room for is a box of its own in the one
/// around it.
pub fn nested_boxes(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    shapes: &Shapes,
    root: ShapeId,
    limits: BoxLimits,
) -> Vec<NestedBox> {
    // Some of the boxes will be those of what is left out.
    let some = BoxLimits { boxes: limits.boxes / 4 * 3, ..limits };
    let pieces = pieces(shapes, root, some, |shape| shapes.get(shape).retained.0);
    let mut boxes: Vec<NestedBox> = pieces.iter().map(|piece| of_piece(shapes, piece)).collect();
    for (number, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.left_out.0 > 0) {
        boxes.push(rest(number, Words(piece.left_out.0).bytes(), piece.left_out.1));
    }
    let is_group = matches!(shapes.get(root).form, ShapeOf::Kind(_) | ShapeOf::Rest);
    if boxes.len() == 1 && is_group {
        boxes.extend(members(heap, catalogue, shapes, root, some.boxes));
    }
    boxes
}

fn of_piece(shapes: &Shapes, piece: &Piece) -> NestedBox {
    let shape = shapes.get(piece.shape);
    let (item, form) = match (shape.form, shape.largest) {
        (ShapeOf::Kind(_), Some(block)) if shape.tops == 1 && shape.blocks == 1 => {
            (TreeItem::Block(block), ShapeOf::Block(block))
        }
        (form, _) => (TreeItem::Shape(piece.shape), form),
    };
    NestedBox {
        parent: piece.parent,
        item: Some(item),
        form: Some(form),
        what: form.into(),
        retained: Words(piece.words).bytes(),
        own: shape.own.bytes(),
        retained_external: Some(shape.external),
        blocks: shape.tops,
        largest: shape.largest,
    }
}

fn rest(parent: usize, retained: Bytes, blocks: u64) -> NestedBox {
    NestedBox {
        parent,
        item: None,
        form: None,
        what: NodeKind::Rest,
        retained,
        own: retained,
        retained_external: None,
        blocks,
        largest: None,
    }
}

/// The blocks of a group that nothing else hangs from, as boxes inside its own.
fn members(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    shapes: &Shapes,
    group: ShapeId,
    limit: usize,
) -> Vec<NestedBox> {
    let blocks = shapes.tops(heap, catalogue, group);
    let retained = |block: &BlockIndex| catalogue.retained(heap, *block).bytes();
    let (some, left_out) = blocks.split_at(blocks.len().min(limit));
    let of_block = |block: &BlockIndex| NestedBox {
        parent: 0,
        item: Some(TreeItem::Block(*block)),
        form: Some(ShapeOf::Block(*block)),
        what: NodeKind::Block,
        retained: retained(block),
        own: catalogue.size(*block).bytes(),
        retained_external: Some(heap.graph.external(*block)),
        blocks: 1,
        largest: Some(*block),
    };
    let mut boxes: Vec<NestedBox> = some.iter().map(of_block).collect();
    if !left_out.is_empty() {
        boxes.push(rest(0, left_out.iter().map(retained).sum(), left_out.len() as u64));
    }
    boxes
}

/// What is retained along the paths from a shape down, as nested boxes; with `weights`, what of it
/// each shape retains for blocks of a kind (see [`Shapes::leading_to`]).
pub fn path_boxes(
    shapes: &Shapes,
    root: ShapeId,
    limits: BoxLimits,
    weights: Option<&[Words]>,
) -> Vec<NestedBox> {
    let words = |shape: ShapeId| match weights {
        None => shapes.get(shape).retained.0,
        Some(weights) => weights[shape.0 as usize].0,
    };
    let pieces = pieces(shapes, root, limits, words);
    let of_piece = |piece: &Piece| {
        let shape = shapes.get(piece.shape);
        let is_root = matches!(shape.form, ShapeOf::RootNode(_));
        let block = shape.largest.map(TreeItem::Block);
        NestedBox {
            parent: piece.parent,
            item: if is_root { Some(TreeItem::Shape(piece.shape)) } else { block },
            form: Some(shape.form),
            what: if is_root { NodeKind::RootNode } else { NodeKind::Block },
            retained: Words(piece.words).bytes(),
            own: Words(piece.words - piece.inside).bytes(),
            retained_external: None,
            blocks: shape.tops,
            largest: None,
        }
    };
    pieces.iter().map(of_piece).collect()
}
