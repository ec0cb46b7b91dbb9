//! The answers to [`HeapTreemap`](crate::query::HeapTreemap) and
//! [`HeapFlame`](crate::query::HeapFlame): the dominator tree merged by shape, as boxes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::Node;
use memtrail_heap::query::{Form, ShapeId};
use serde_json::{Value, json};

use super::loaded::LoadedSnapshot;
use super::node::{self, Place};
use crate::api_error::ApiError;
use crate::names::Budget;
use crate::query::{HeapFlame, HeapTreemap};
use crate::response_body::ResponseBody;

/// Boxes at most.
const MOST_BOXES: usize = 4000;
/// Boxes inside one another at most.
const DEEPEST: usize = 200;

/// A box: its shape, its parent among the boxes, its width.
struct Piece {
    shape: ShapeId,
    parent: usize,
    words: u64,
    /// What of the width is in boxes inside it.
    inside: u64,
    /// Boxes inside it that there was no room for: their widths and blocks.
    left_out: (u64, u64),
}

/// The heaviest boxes below a place, parents before children, siblings heaviest first.
fn pieces(place: &Place, limit: usize, depth: usize, words: impl Fn(ShapeId) -> u64) -> Vec<Piece> {
    let limit = limit.clamp(1, MOST_BOXES);
    let depth = depth.clamp(1, DEEPEST);
    let mut pieces: Vec<Piece> = Vec::new();
    // Heaviest first; of the same weight, the one that was found first.
    let mut waiting = BinaryHeap::new();
    let mut found = 0u64;
    waiting.push((words(place.shape), Reverse(found), place.shape, 0, 0));
    while let Some((weight, _, shape, parent, level)) = waiting.pop() {
        if level > 0 {
            pieces[parent].inside += weight;
        }
        let number = pieces.len();
        pieces.push(Piece { shape, parent, words: weight, inside: 0, left_out: (0, 0) });
        if number + 1 >= limit {
            for (weight, _, shape, parent, _) in waiting.drain() {
                let above: &mut Piece = &mut pieces[parent];
                above.left_out.0 += weight;
                above.left_out.1 += place.shapes.get(shape).tops;
            }
            break;
        }
        if level >= depth {
            continue;
        }
        for child in place.shapes.children(shape) {
            let weight = words(*child);
            if weight > 0 {
                found += 1;
                waiting.push((weight, Reverse(found), *child, number, level + 1));
            }
        }
    }
    pieces
}

/// Bytes of the names in an answer are bounded: boxes beyond that have none.
struct Names {
    budget: Budget,
}

impl Names {
    fn of(&mut self, name: &str, node: Option<&str>) -> (Value, Value) {
        let bytes = 120 + name.len() + node.map_or(0, str::len);
        if self.budget.take(bytes) { (json!(name), json!(node)) } else { (json!(""), Value::Null) }
    }
}

fn what(form: Form) -> &'static str {
    match form {
        Form::RootNode(_) => "holder",
        Form::Block(_) => "block",
        Form::Kind(_) | Form::Rest => "group",
    }
}

pub(super) fn treemap(
    loaded: &LoadedSnapshot,
    ask: &HeapTreemap,
) -> Result<ResponseBody, ApiError> {
    let place = node::find(loaded, &ask.node)?;
    // Some of the boxes will be those of what is left out.
    let limit = ask.limit.min(MOST_BOXES) / 4 * 3;
    let pieces = pieces(&place, limit, ask.depth, |shape| place.shapes.get(shape).retained.0);
    let mut names = Names { budget: Budget::large() };
    let mut boxes: Vec<Value> = Vec::new();
    for piece in &pieces {
        let shape = place.shapes.get(piece.shape);
        let (form, node) = match (shape.form, shape.largest) {
            (Form::Kind(_), Some(block)) if shape.tops == 1 && shape.blocks == 1 => {
                (Form::Block(block), node::text(loaded, Node::Block(block)))
            }
            _ => (shape.form, node::shape_text(loaded, &place, piece.shape)),
        };
        let (name, node) = names.of(&node::shape_name(loaded, form), Some(&node));
        boxes.push(json!({
            "parent": piece.parent,
            "node": node,
            "name": name,
            "what": what(form),
            "retained": piece.words * 8,
            "own": shape.own.bytes(),
            "retained_external": shape.external,
            "blocks": shape.tops,
            "largest": shape.largest,
        }));
    }
    for (number, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.left_out.0 > 0) {
        boxes.push(json!({
            "parent": number,
            "node": null,
            "name": "other",
            "what": "rest",
            "retained": piece.left_out.0 * 8,
            "own": piece.left_out.0 * 8,
            "blocks": piece.left_out.1,
            "largest": null,
        }));
    }
    if boxes.len() == 1 && !place.kinds.is_empty() {
        boxes.extend(single(loaded, &place, limit, &mut names));
    }
    let info = node::info(loaded, place.node);
    let way = node::way(loaded, &place);
    Ok(ResponseBody::new(json!({ "node": info, "path": way, "boxes": boxes })))
}

/// The blocks of a group that nothing else hangs from, as boxes inside its own.
fn single(loaded: &LoadedSnapshot, place: &Place, limit: usize, names: &mut Names) -> Vec<Value> {
    let blocks = place.shapes.tops(loaded.heap(), &loaded.catalogue, place.shape);
    let retained = |block: BlockIndex| loaded.catalogue.retained(loaded.heap(), block).bytes().0;
    let (told, left_out) = blocks.split_at(blocks.len().min(limit));
    let mut boxes: Vec<Value> = told
        .iter()
        .map(|block| {
            let node = Node::Block(*block);
            let text = node::text(loaded, node);
            let (name, node) = names.of(&node::name(loaded, node), Some(&text));
            json!({
                "parent": 0,
                "node": node,
                "name": name,
                "what": "block",
                "retained": retained(*block),
                "own": loaded.catalogue.size(*block).bytes(),
                "retained_external": loaded.heap().graph.external(*block),
                "blocks": 1,
                "largest": block,
            })
        })
        .collect();
    if !left_out.is_empty() {
        let rest: u64 = left_out.iter().map(|block| retained(*block)).sum();
        boxes.push(json!({
            "parent": 0,
            "node": null,
            "name": "other",
            "what": "rest",
            "retained": rest,
            "own": rest,
            "blocks": left_out.len(),
            "largest": null,
        }));
    }
    boxes
}

pub(super) fn flame(loaded: &LoadedSnapshot, ask: &HeapFlame) -> Result<ResponseBody, ApiError> {
    let place = node::find(loaded, &ask.node)?;
    let shapes = &place.shapes;
    let weights = match &ask.kind {
        None => None,
        Some(kind) => {
            let kind = loaded.catalogue.find(kind).ok_or_else(|| {
                ApiError::bad(format_args!("nothing is a {kind:?}"))
                    .hint("the histogram has the names of kinds")
            })?;
            Some(shapes.leading_to(kind))
        }
    };
    let words = |shape: ShapeId| match &weights {
        None => shapes.get(shape).retained.0,
        Some(weights) => weights[shape.0 as usize].0,
    };
    let pieces = pieces(&place, ask.limit, DEEPEST, words);
    let mut names = Names { budget: Budget::large() };
    let boxes: Vec<Value> = pieces
        .iter()
        .map(|piece| {
            let shape = shapes.get(piece.shape);
            let node = match shape.form {
                Form::RootNode(root_node) => Some(node::text(loaded, Node::RootNode(root_node))),
                _ => shape.largest.map(|block| node::text(loaded, Node::Block(block))),
            };
            let (name, node) = names.of(&node::shape_name(loaded, shape.form), node.as_deref());
            json!({
                "parent": piece.parent,
                "node": node,
                "name": name,
                "what": if matches!(shape.form, Form::RootNode(_)) { "holder" } else { "block" },
                "retained": piece.words * 8,
                "own": (piece.words - piece.inside) * 8,
                "blocks": shape.tops,
            })
        })
        .collect();
    let total = pieces.first().map_or(0, |piece| piece.words * 8);
    let info = node::info(loaded, place.node);
    let way = node::way(loaded, &place);
    Ok(ResponseBody::new(json!({ "node": info, "path": way, "total": total, "boxes": boxes })))
}
