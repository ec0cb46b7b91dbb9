//! Nodes of `Map` and `Set`: a left and a right subtree, values, and the height, which is an immediate.
//!
//! Heights are counted from the leaves: those of two subtrees of a node differ by 2 at most. A record that has a
//! map among its fields may look like a node with one subtree, so nodes are recognised from one on that has two.

use std::io;

use super::block_form::NO_TARGET;
use super::facts::{Candidates, Facts};
use super::types::{Found, Part};
use crate::graph::column::{Column, Place};

/// Which fields of a candidate are what.
struct Layout<const V: usize> {
    left: usize,
    right: usize,
    values: [usize; V],
}

/// The left subtree, key, data, the right subtree.
const MAP: Layout<2> = Layout { left: 0, right: 3, values: [1, 2] };
/// The left subtree, element, the right subtree.
const SET: Layout<1> = Layout { left: 0, right: 2, values: [1] };

/// How much higher one subtree of a node is at most.
const MAX_DIFFERENCE: u8 = 2;

/// Heights that are none.
const UNKNOWN: u8 = 0;
const UNDER_WAY: u8 = 254;
const NO_HEIGHT: u8 = 255;

/// Marks nodes of maps.
///
/// # Errors
/// If there is no room for columns.
pub(super) fn mark_maps(place: &Place, facts: &Facts, found: &mut Found) -> io::Result<()> {
    mark(place, facts, &facts.quints, &MAP, (Part::MapNode, found))
}

/// Marks nodes of sets.
///
/// # Errors
/// If there is no room for columns.
pub(super) fn mark_sets(place: &Place, facts: &Facts, found: &mut Found) -> io::Result<()> {
    mark(place, facts, &facts.quads, &SET, (Part::SetNode, found))
}

fn mark<const N: usize, const V: usize>(
    place: &Place,
    facts: &Facts,
    nodes: &Candidates<N>,
    layout: &Layout<V>,
    (part, found): (Part, &mut Found),
) -> io::Result<()> {
    let mut heights = Heights::new(place, facts, nodes, layout)?;
    let mut todo: Vec<u32> = Vec::new();
    for (place, (block, fields)) in nodes.iter().enumerate() {
        let subtrees = [fields[layout.left], fields[layout.right]];
        // Most candidates are no nodes with two subtrees: of these no height is needed.
        if !found.is_free(block)
            || !subtrees.into_iter().all(|subtree| nodes.place(subtree).is_some())
            || heights.of(place) == NO_HEIGHT
        {
            continue;
        }
        todo.push(block);
        while let Some(block) = todo.pop() {
            let Some(place) = nodes.place(block) else { continue };
            if found.set(block, part) {
                let fields = nodes.fields(place);
                todo.extend([fields[layout.left], fields[layout.right]]);
            }
        }
    }
    Ok(())
}

/// The height of each candidate that is the node of a balanced tree, as far as they were asked for.
struct Heights<'f, const N: usize, const V: usize> {
    facts: &'f Facts,
    nodes: &'f Candidates<N>,
    layout: &'f Layout<V>,
    known: Column<u8>,
    /// From the candidate that is asked for down to the one that is looked at.
    way: Vec<usize>,
}

impl<'f, const N: usize, const V: usize> Heights<'f, N, V> {
    fn new(
        place: &Place,
        facts: &'f Facts,
        nodes: &'f Candidates<N>,
        layout: &'f Layout<V>,
    ) -> io::Result<Self> {
        // Zeros are unknown.
        let known = place.zeros(nodes.len())?;
        Ok(Self { facts, nodes, layout, known, way: Vec::new() })
    }

    /// The height of a candidate; [`NO_HEIGHT`] if it is no node, or a subtree is none.
    fn of(&mut self, start: usize) -> u8 {
        if self.known[start] != UNKNOWN {
            return self.known[start];
        }
        self.known[start] = UNDER_WAY;
        self.way.push(start);
        while let Some(place) = self.way.last().copied() {
            match self.look(place) {
                Ok(height) => {
                    self.known[place] = height;
                    self.way.pop();
                }
                Err(child) => {
                    self.known[child] = UNDER_WAY;
                    self.way.push(child);
                }
            }
        }
        self.known[start]
    }

    /// The height of a candidate, or a subtree of which the height is needed for that.
    fn look(&self, place: usize) -> Result<u8, usize> {
        let Self { facts, nodes, layout, known, .. } = self;
        let fields = nodes.fields(place);
        let mut subtrees = [0; 2];
        for (height, target) in subtrees.iter_mut().zip([fields[layout.left], fields[layout.right]])
        {
            if target == NO_TARGET {
                continue;
            }
            let Some(child) = nodes.place(target) else { return Ok(NO_HEIGHT) };
            let of_child = nodes.fields(child);
            let is_alike = |at: &usize| facts.sort(fields[*at]) == facts.sort(of_child[*at]);
            match known[child] {
                // In a circle, it is under way.
                UNDER_WAY | NO_HEIGHT => return Ok(NO_HEIGHT),
                _ if !layout.values.iter().all(is_alike) => return Ok(NO_HEIGHT),
                UNKNOWN => return Err(child),
                known => *height = known,
            }
        }
        let [left, right] = subtrees;
        let height = left.max(right).saturating_add(1);
        let is_balanced = left.abs_diff(right) <= MAX_DIFFERENCE;
        Ok(if is_balanced && height < UNDER_WAY { height } else { NO_HEIGHT })
    }
}
