//! Flame graphs: from a focus inwards to what it calls, and outwards to what calls it.
//!
//! The focus is a fragment of call paths. Its occurrences are put together: calls of the same
//! functions are one box, wherever they are in the program. Boxes come from the heaviest on, so
//! that a limit cuts away what weighs least.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::entities::{Entity, NO_ENTITY};
use super::level::{Level, Match};
use super::view::View;
use crate::selected::Cell;
use crate::sites::By;

/// What is worth a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Least share of the focus.
    pub cutoff: f64,
    /// The most boxes in each direction.
    pub boxes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cutoff: 1.0 / 2000.0, boxes: 10_000 }
    }
}

/// Where to go from the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlameSides {
    /// What the focus calls.
    Callees,
    /// What calls the focus.
    Callers,
    /// Callees and callers, each on a side of the focus.
    #[default]
    Both,
}

/// A flame graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flame {
    /// Everything that was selected.
    pub total: Cell,
    /// What is in the focus; nothing if it does not occur.
    pub focus: Cell,
    /// What is called; box 0 is the focus's last element.
    pub down: Boxes,
    /// What calls; box 0 is the focus's first element.
    pub up: Boxes,
}

/// Boxes in columns, the heaviest first; parents stand before their children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// On which box each stands; the first stands on itself.
    pub parent: Vec<u32>,
    /// What each box is for.
    pub entity: Vec<Entity>,
    /// How much.
    pub cell: Vec<Cell>,
    /// Whether some boxes that would stand on it were left out.
    pub more: Vec<bool>,
}

impl Boxes {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    fn push(&mut self, parent: u32, entity: u32, cell: Cell) -> u32 {
        self.parent.push(parent);
        self.entity.push(Entity(entity));
        self.cell.push(cell);
        self.more.push(false);
        self.parent.len() as u32 - 1
    }
}

/// The flame graph of a focus; that of everything if the focus is empty.
pub fn flame(view: View<'_>, focus: &[Entity], sides: FlameSides, limits: Limits) -> Flame {
    let focus: Vec<u32> = match focus {
        [] => vec![Entity::TOPLEVEL.0],
        _ => focus.iter().map(|entity| entity.0).collect(),
    };
    let level = Level::new(view, By::Function);
    let matches = level.matches(&focus);
    let mut flame = Flame { total: view.cells.all(), ..Flame::default() };
    for found in &matches {
        flame.focus += found.cell;
    }
    let (first, last) = (focus[0], focus[focus.len() - 1]);
    if sides != FlameSides::Callers {
        // Nothing comes after the end of a path.
        let from = if last == Entity::ALLOCATIONS.0 { &[] } else { matches.as_slice() };
        flame.down = grow(&Inwards { level }, last, flame.focus, from, limits);
    }
    if sides != FlameSides::Callees {
        let outermost: Vec<Match> = if first == Entity::ALLOCATIONS.0 {
            matches
        } else {
            // The end of a path is no node of its own.
            let elements = focus.len() - usize::from(last == Entity::ALLOCATIONS.0);
            let first = |found: Match| Match { node: level.first(found.node, elements), ..found };
            matches.into_iter().map(first).collect()
        };
        let ends = first == Entity::ALLOCATIONS.0;
        flame.up = grow(&Outwards { level, ends }, first, flame.focus, &outermost, limits);
    }
    flame
}

/// A direction.
trait Direction {
    /// Calls `each` with the label of every next element, and what is there.
    fn next(&self, from: Match, is_first: bool, each: impl FnMut(u32, Match));
    fn labels(&self) -> usize;
    /// Whether the same node may be reached from several others.
    const JOINS: bool;
}

struct Inwards<'a> {
    level: Level<'a>,
}

impl Direction for Inwards<'_> {
    fn next(&self, from: Match, _: bool, mut each: impl FnMut(u32, Match)) {
        self.level.children(from.node, |node| {
            each(self.level.label(node), Match { node, cell: self.level.subtree(node) });
        });
    }
    fn labels(&self) -> usize {
        self.level.labels()
    }
    const JOINS: bool = false;
}

struct Outwards<'a> {
    level: Level<'a>,
    /// The first element is the end of all paths: next comes the last node of each.
    ends: bool,
}

impl Direction for Outwards<'_> {
    fn next(&self, from: Match, is_first: bool, mut each: impl FnMut(u32, Match)) {
        if is_first && self.ends {
            each(self.level.label(from.node), from);
        } else if let Some(node) = self.level.parent(from.node) {
            each(self.level.label(node), Match { node, ..from });
        }
    }
    fn labels(&self) -> usize {
        self.level.labels()
    }
    const JOINS: bool = true;
}

/// Boxes of the same function on one box.
struct Group {
    label: u32,
    cell: Cell,
    matches: Vec<Match>,
}

/// Puts boxes on boxes, from the heaviest on.
fn grow<D: Direction>(
    direction: &D,
    label: u32,
    cell: Cell,
    matches: &[Match],
    limits: Limits,
) -> Boxes {
    let least = ((cell.samples as f64 * limits.cutoff).ceil() as u64).max(1);
    let mut boxes = Boxes::default();
    // Those that may become boxes: samples, number, and on which box.
    let mut waiting = BinaryHeap::from([(cell.samples, Reverse(0_usize), 0)]);
    let mut contents = vec![Group { label, cell, matches: matches.to_vec() }];
    // Where in `groups` each label's is.
    let mut group_of = vec![NO_ENTITY; direction.labels()];
    let mut groups: Vec<Group> = Vec::new();
    while let Some((_, Reverse(number), parent)) = waiting.pop() {
        if boxes.len() >= limits.boxes.max(1) {
            boxes.more[parent as usize] = true;
            continue;
        }
        let group = &mut contents[number];
        let at = boxes.push(parent, group.label, group.cell);
        for found in std::mem::take(&mut group.matches) {
            direction.next(found, at == 0, |label, next| {
                let place = &mut group_of[label as usize];
                if *place == NO_ENTITY {
                    *place = groups.len() as u32;
                    groups.push(Group { label, cell: Cell::default(), matches: Vec::new() });
                }
                let group = &mut groups[*place as usize];
                group.cell += next.cell;
                match group.matches.last_mut() {
                    Some(last) if D::JOINS && last.node == next.node => last.cell += next.cell,
                    _ => group.matches.push(next),
                }
            });
        }
        for group in &groups {
            group_of[group.label as usize] = NO_ENTITY;
        }
        let all = groups.len();
        groups.retain(|group| group.cell.samples >= least);
        boxes.more[at as usize] = groups.len() < all;
        for mut group in groups.drain(..) {
            if D::JOINS {
                join(&mut group.matches);
            }
            waiting.push((group.cell.samples, Reverse(contents.len()), at));
            contents.push(group);
        }
    }
    boxes
}

/// Puts equal nodes together.
fn join(matches: &mut Vec<Match>) {
    if !matches.is_sorted_by_key(|found| found.node) {
        matches.sort_unstable_by_key(|found| found.node);
    }
    matches.dedup_by(|next, kept| {
        let same = next.node == kept.node;
        if same {
            kept.cell += next.cell;
        }
        same
    });
}
