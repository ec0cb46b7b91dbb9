//! For each kind of block the place where most of it is.

use std::collections::HashMap;

use super::catalogue::{Catalogue, KindId};
use super::heap::Heap;
use super::shapes::{ShapeId, ShapeOf, Shapes};
use crate::units::{BlockIndex, Words};

/// Where most of a kind is.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The blocks that hang there; absent where shapes of several kinds are one.
    pub shape: Option<ShapeId>,
    /// The one of these blocks that retains most.
    pub block: BlockIndex,
}

/// Looks for the place of each kind. `shapes` are those of everything.
pub fn examples(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    shapes: &Shapes,
) -> HashMap<KindId, Example> {
    let mut most: HashMap<KindId, (Words, Example)> = HashMap::new();
    for id in (0..shapes.len() as u32).map(ShapeId) {
        let shape = shapes.get(id);
        let (ShapeOf::Kind(kind), Some(block)) = (shape.form, shape.largest) else { continue };
        let of_kind = (shape.own, Example { shape: Some(id), block });
        let known = most.entry(kind).or_insert(of_kind);
        if shape.own > known.0 {
            *known = of_kind;
        }
    }
    // Of kinds that have no shape of their own, the block that retains most.
    for block in (0..catalogue.len() as u32).map(BlockIndex) {
        if !heap.graph.is_reachable(block) {
            continue;
        }
        let retained = catalogue.retained(heap, block);
        let of_kind = (retained, Example { shape: None, block });
        let known = most.entry(catalogue.kind(block)).or_insert(of_kind);
        if known.1.shape.is_none() && retained > known.0 {
            *known = of_kind;
        }
    }
    most.into_iter().map(|(kind, (_, of_kind))| (kind, of_kind)).collect()
}
