//! Nodes of `Map` and `Set`: a left and a right subtree, values, and the height, which is an immediate.
//!
//! Heights are counted from the leaves: those of two subtrees of a node differ by 2 at most. A record that has a
//! map among its fields may look like a node with one subtree, so nodes are recognised from one on that has two.

use std::io;

use super::facts::{Candidates, Facts};
use super::form::NO_TARGET;
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
    let heights = heights(place, facts, nodes, layout)?;
    let is_node = |block: u32| nodes.place(block).is_some_and(|place| heights[place] != NO_HEIGHT);
    let mut todo: Vec<u32> = Vec::new();
    for (place, (block, fields)) in nodes.iter().enumerate() {
        let subtrees = [fields[layout.left], fields[layout.right]];
        if heights[place] == NO_HEIGHT || !subtrees.into_iter().all(is_node) {
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

/// The height of each candidate that is the node of a balanced tree.
fn heights<const N: usize, const V: usize>(
    place: &Place,
    facts: &Facts,
    nodes: &Candidates<N>,
    layout: &Layout<V>,
) -> io::Result<Column<u8>> {
    // Zeros are unknown.
    let mut heights: Column<u8> = place.zeros(nodes.len())?;
    let mut way: Vec<usize> = Vec::new();
    for start in 0..nodes.len() {
        if heights[start] != UNKNOWN {
            continue;
        }
        heights[start] = UNDER_WAY;
        way.push(start);
        while let Some(place) = way.last().copied() {
            let fields = nodes.fields(place);
            let mut subtrees = [0; 2];
            let mut below = None;
            for (height, target) in
                subtrees.iter_mut().zip([fields[layout.left], fields[layout.right]])
            {
                if target == NO_TARGET {
                    continue;
                }
                *height = NO_HEIGHT;
                let Some(child) = nodes.place(target) else { continue };
                let of_child = nodes.fields(child);
                if layout
                    .values
                    .iter()
                    .any(|at| facts.sort(fields[*at]) != facts.sort(of_child[*at]))
                {
                    continue;
                }
                match heights[child] {
                    UNKNOWN => below = Some(child),
                    // In a circle.
                    UNDER_WAY => {}
                    known => *height = known,
                }
            }
            if let Some(child) = below {
                heights[child] = UNDER_WAY;
                way.push(child);
                continue;
            }
            let [left, right] = subtrees;
            let is_balanced =
                left != NO_HEIGHT && right != NO_HEIGHT && left.abs_diff(right) <= MAX_DIFFERENCE;
            let height = left.max(right).saturating_add(1);
            heights[place] = if is_balanced && height < UNDER_WAY { height } else { NO_HEIGHT };
            way.pop();
        }
    }
    Ok(heights)
}
