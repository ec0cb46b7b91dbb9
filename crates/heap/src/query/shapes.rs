//! The dominator tree, merged by shape: below each root node the kinds of blocks that it retains,
//! below each of these the kinds that they keep, and so on. Blocks of a kind that hang from one
//! another (the cells of a list) are one shape.
//!
//! Sizes add up: what a shape retains is its own size and what the shapes below it retain.

use std::cmp::Reverse;

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;

use super::catalogue::{Catalogue, KindId};
use super::heap::Heap;
use crate::graph::{Node, RootNodeId, SUPER_ROOT};
use crate::units::{BlockIndex, Bytes, Words};

/// A shape: a place in [`Shapes`], parents before children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeId(pub u32);

/// What a shape is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeOf {
    /// A root node.
    RootNode(RootNodeId),
    /// The block that everything is below.
    Block(BlockIndex),
    /// Blocks of a kind.
    Kind(KindId),
    /// Blocks of all kinds, where there would be too many shapes.
    Rest,
}

/// A shape.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The one above; the first is above itself.
    pub parent: ShapeId,
    /// What it is of.
    pub form: ShapeOf,
    /// What it retains.
    pub retained: Words,
    /// Bytes outside the heap that go with that.
    pub external: Bytes,
    /// The size of its blocks alone.
    pub own: Words,
    /// Blocks of it, those that hang from others of it too.
    pub blocks: u64,
    /// Blocks of it that hang from no other of it.
    pub tops: u64,
    /// The one of these that retains most.
    pub largest: Option<BlockIndex>,
    largest_words: u64,
    depth: u16,
}

/// The dominator tree below a root node or block, merged by shape.
#[derive(Clone, Debug)]
pub struct Shapes {
    all: Vec<Shape>,
    /// For each block its shape.
    of: Vec<u32>,
    starts: Vec<u32>,
    /// Children, those that retain most first.
    children: Vec<ShapeId>,
}

/// Not known yet.
const UNKNOWN: u32 = u32::MAX;
/// Not below the root.
const OUTSIDE: u32 = u32::MAX - 1;
/// Deeper shapes are one.
const MAX_DEPTH: u16 = 120;
/// Beyond so many shapes, new ones of a parent are one.
const MAX_SHAPES: usize = 1 << 19;

impl Shapes {
    /// Merges what all root nodes retain.
    pub fn new(heap: &Heap<'_>, catalogue: &Catalogue) -> Self {
        let mut all = Vec::new();
        for number in 0..heap.graph.root_nodes().len() as u32 {
            let root_node = RootNodeId(number);
            let parent = match heap.graph.dominator(Node::RootNode(root_node)) {
                Some(Node::RootNode(root)) if root < root_node => ShapeId(root.0),
                _ => ShapeId(SUPER_ROOT.0),
            };
            let mut shape = Shape::new(parent, ShapeOf::RootNode(root_node), 0);
            shape.retained = heap.graph.held(root_node);
            shape.external = heap.graph.held_external(root_node);
            all.push(shape);
        }
        Self::merge(heap, catalogue, all, None)
    }

    /// Merges what one block retains.
    pub fn below(heap: &Heap<'_>, catalogue: &Catalogue, block: BlockIndex) -> Self {
        let mut shape = Shape::new(ShapeId(0), ShapeOf::Block(block), 0);
        shape.retained = catalogue.retained(heap, block);
        shape.external = heap.graph.external(block);
        Self::merge(heap, catalogue, vec![shape], Some(block))
    }

    fn merge(
        heap: &Heap<'_>,
        catalogue: &Catalogue,
        all: Vec<Shape>,
        root: Option<BlockIndex>,
    ) -> Self {
        let blocks = catalogue.len() as u32;
        let mut of = vec![UNKNOWN; blocks as usize];
        let mut known: HashMap<(u32, ShapeOf), u32, FxBuildHasher> = HashMap::default();
        let mut shapes = Self { all, of: Vec::new(), starts: Vec::new(), children: Vec::new() };
        if let Some(root) = root
            && let Some(of_root) = of.get_mut(root.0 as usize)
        {
            *of_root = 0;
            shapes.all[0].add(catalogue.size(root), Some((root, Words(0))));
        }
        let mut way: Vec<u32> = Vec::new();
        for start in 0..blocks {
            if of[start as usize] != UNKNOWN {
                continue;
            }
            let mut at = start;
            let mut shape = loop {
                match of[at as usize] {
                    UNKNOWN => way.push(at),
                    shape => break shape,
                }
                match heap.graph.dominator(Node::Block(BlockIndex(at))) {
                    Some(Node::Block(parent)) => at = parent.0,
                    Some(Node::RootNode(root_node)) if root.is_none() => break root_node.0,
                    _ => break OUTSIDE,
                }
            };
            while let Some(block) = way.pop() {
                if shape != OUTSIDE {
                    let block = BlockIndex(block);
                    shape = shapes.place(&mut known, shape, block, heap, catalogue);
                }
                of[block as usize] = shape;
            }
        }
        shapes.of = of;
        shapes.arrange();
        shapes
    }

    /// The shape of a block that hangs from one of a shape.
    fn place(
        &mut self,
        known: &mut HashMap<(u32, ShapeOf), u32, FxBuildHasher>,
        parent_index: u32,
        block: BlockIndex,
        heap: &Heap<'_>,
        catalogue: &Catalogue,
    ) -> u32 {
        let parent = self.all[parent_index as usize];
        let mut form = ShapeOf::Kind(catalogue.kind(block));
        let own = catalogue.size(block);
        if parent.form == form || parent.form == ShapeOf::Rest {
            self.all[parent_index as usize].add(own, None);
            return parent_index;
        }
        if parent.depth >= MAX_DEPTH {
            form = ShapeOf::Rest;
        }
        let full = self.all.len() >= MAX_SHAPES;
        let next = self.all.len() as u32;
        if full && !known.contains_key(&(parent_index, form)) {
            form = ShapeOf::Rest;
        }
        let place = *known.entry((parent_index, form)).or_insert(next);
        if place == next {
            self.all.push(Shape::new(ShapeId(parent_index), form, parent.depth.saturating_add(1)));
        }
        let shape = &mut self.all[place as usize];
        shape.add(own, Some((block, catalogue.retained(heap, block))));
        shape.external += heap.graph.external(block);
        place
    }

    /// Puts children below their parents in order.
    fn arrange(&mut self) {
        let count = self.all.len();
        let mut starts = vec![0u32; count + 1];
        for shape in &self.all[1..] {
            starts[shape.parent.0 as usize + 1] += 1;
        }
        for place in 0..count {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let mut children = vec![ShapeId(0); count - 1];
        for (number, shape) in (1..).zip(&self.all[1..]) {
            let place = &mut next[shape.parent.0 as usize];
            children[*place as usize] = ShapeId(number);
            *place += 1;
        }
        for place in 0..count {
            let some = &mut children[starts[place] as usize..starts[place + 1] as usize];
            some.sort_rows_by_key(|child| (Reverse(self.all[child.0 as usize].retained), *child));
        }
        (self.starts, self.children) = (starts, children);
    }

    /// The shape that everything is below.
    pub const fn root(&self) -> ShapeId {
        ShapeId(0)
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "the root is always there")]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// A shape.
    pub fn get(&self, shape: ShapeId) -> &Shape {
        &self.all[shape.0 as usize]
    }

    /// The shape of a root node, where all of them are there.
    pub fn of_root_node(&self, root_node: RootNodeId) -> Option<ShapeId> {
        let is = |shape: &Shape| shape.form == ShapeOf::RootNode(root_node);
        self.all.get(root_node.0 as usize).filter(|shape| is(shape)).map(|_| ShapeId(root_node.0))
    }

    /// The shape of a block, if it is below the root.
    pub fn of_block(&self, block: BlockIndex) -> Option<ShapeId> {
        self.of.get(block.0 as usize).filter(|shape| **shape < OUTSIDE).map(|shape| ShapeId(*shape))
    }

    /// The shapes below one that retain anything, those that retain most first.
    pub fn children(&self, shape: ShapeId) -> &[ShapeId] {
        let place = shape.0 as usize;
        let some = &self.children[self.starts[place] as usize..self.starts[place + 1] as usize];
        let alive = some.partition_point(|child| self.get(*child).retained.0 > 0);
        &some[..alive]
    }

    /// For each shape what of it is kept for blocks of a kind: what the outermost of these retain,
    /// where they are below the shape or are it.
    pub fn leading_to(&self, kind: KindId) -> Vec<Words> {
        let mut weights = vec![Words(0); self.all.len()];
        let mut inside = vec![false; self.all.len()];
        for (place, shape) in self.all.iter().enumerate() {
            let parent = shape.parent.0 as usize;
            let inside_parent = place > 0 && inside[parent];
            let is = shape.form == ShapeOf::Kind(kind);
            inside[place] = inside_parent || is;
            if is && !inside_parent {
                weights[place] = shape.retained;
            }
        }
        for place in (1..self.all.len()).rev() {
            let parent = self.all[place].parent.0 as usize;
            weights[parent].0 += weights[place].0;
        }
        weights
    }

    /// The blocks of a shape that hang from no other of it, those that retain most first.
    pub fn tops(&self, heap: &Heap<'_>, catalogue: &Catalogue, shape: ShapeId) -> Vec<BlockIndex> {
        let is = |block: BlockIndex| self.of.get(block.0 as usize) == Some(&shape.0);
        let mut tops: Vec<BlockIndex> = (0..self.of.len() as u32)
            .map(BlockIndex)
            .filter(|block| {
                is(*block)
                    && match heap.graph.dominator(Node::Block(*block)) {
                        Some(Node::Block(parent)) => !is(parent),
                        _ => true,
                    }
            })
            .collect();
        tops.sort_rows_by_cached_key(|block| (Reverse(catalogue.retained(heap, *block)), *block));
        tops
    }
}

impl Shape {
    fn new(parent: ShapeId, form: ShapeOf, depth: u16) -> Self {
        let (retained, external, own) = (Words(0), Bytes(0), Words(0));
        let (blocks, tops, largest, largest_words) = (0, 0, None, 0);
        Self { parent, form, retained, external, own, blocks, tops, largest, largest_words, depth }
    }

    /// Takes in a block; one that hangs from no other of it with what it retains.
    fn add(&mut self, own: Words, top: Option<(BlockIndex, Words)>) {
        self.own.0 += own.0;
        self.blocks += 1;
        if let Some((block, retained)) = top {
            self.tops += 1;
            self.retained.0 += retained.0;
            if self.largest.is_none_or(|known| {
                (retained.0, Reverse(block)) > (self.largest_words, Reverse(known))
            }) {
                (self.largest, self.largest_words) = (Some(block), retained.0);
            }
        }
    }
}
