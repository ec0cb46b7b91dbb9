//! Two recordings side by side, or two choices from one: what is new, gone, grown or shrunk.
//!
//! Functions, sites, modules and files are the same on both sides if their keys are, or if their module was renamed or their
//! line moved (`renamed`). A difference
//! counts as one only if it is more than three times its standard error: sampling the same run
//! twice gives other numbers, too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::entities::{Entity, Label, NO_ENTITY};
use super::flame::Limits;
use super::level::{Level, Match};
use super::renamed;
use super::table::{Line, table};
use super::view::Side;
use crate::estimate::Estimate;
use crate::selected::Cell;
use crate::sites::By;

/// How the second side differs from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ChangeStatus"))]
pub enum Status {
    /// Only there.
    New,
    /// Not there.
    Gone,
    /// More.
    Grown,
    /// Less.
    Shrunk,
    /// No more different than chance.
    Same,
}

/// A line of a table of differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// What it is about, on the first side; none if it is not there.
    pub first: Option<Label>,
    /// What it is about, on the second side.
    pub second: Option<Label>,
    /// Bytes, scaled, of the blocks on whose path it stands, on the first side …
    pub before: Estimate,
    /// … and on the second.
    pub after: Estimate,
    /// Bytes, scaled, that it allocated itself.
    pub own_before: Estimate,
    /// The same, on the second side.
    pub own_after: Estimate,
    /// Blocks, scaled, on whose path it stands.
    pub blocks_before: f64,
    /// The same, on the second side.
    pub blocks_after: f64,
    /// How `after` differs from `before`.
    pub status: Status,
}

/// The boxes of both sides, one on the other. Columns as in [`Boxes`](super::flame::Boxes).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnionFlame {
    /// Keys of what the boxes are.
    pub names: Vec<String>,
    /// On which box each stands; the first stands on itself.
    pub parent: Vec<u32>,
    /// What it is: an index of `names`.
    pub name: Vec<u32>,
    /// Bytes, scaled, on the first side.
    pub before: Vec<f64>,
    /// Bytes, scaled, on the second side.
    pub after: Vec<f64>,
    /// How `after` differs from `before`.
    pub status: Vec<Status>,
    /// Whether some boxes that would stand on it were left out.
    pub more: Vec<bool>,
}

/// Standard errors that a difference must be larger than.
const CERTAIN: f64 = 3.0;
/// How often chance may make some row of a table look changed.
const CHANCE: f64 = 0.01;

impl Status {
    /// How `after` differs from `before`.
    pub fn of(before: Estimate, after: Estimate) -> Self {
        Self::beyond(CERTAIN, before, after)
    }

    /// The same for one of many rows: chance makes any of them differ so much once in a hundred
    /// comparisons at most. The bound is that of C. E. Bonferroni (1936) over the tail of the normal
    /// distribution, P(|Z| > z) ≤ exp(−z²/2).
    pub fn among(before: Estimate, after: Estimate, rows: usize) -> Self {
        let errors = (2.0 * (rows.max(1) as f64 / CHANCE).ln()).sqrt();
        Self::beyond(errors.max(CERTAIN), before, after)
    }

    fn beyond(errors: f64, before: Estimate, after: Estimate) -> Self {
        let difference = after.value - before.value;
        let error = before.stderr.hypot(after.stderr);
        // Scaling rounds.
        let rounding = 1e-9 * before.value.max(after.value);
        if difference.abs() <= (errors * error).max(rounding) {
            Self::Same
        } else if before.value == 0.0 {
            Self::New
        } else if after.value == 0.0 {
            Self::Gone
        } else if difference > 0.0 {
            Self::Grown
        } else {
            Self::Shrunk
        }
    }
}

impl Side<'_> {
    fn bytes(&self, cell: Cell) -> Estimate {
        self.estimator.bytes_of_cell(&cell).scaled(self.scale)
    }

    fn key(&self, label: Label) -> &str {
        self.view.entities.label_key(label)
    }
}

/// A line for each label that either side has, in no order to rely on.
pub fn compare_table(first: Side<'_>, second: Side<'_>, by: By) -> Vec<Change> {
    let before = table(first.view, by);
    let after = table(second.view, by);
    let mut others: FxHashMap<&str, usize> =
        after.iter().enumerate().map(|(at, line)| (second.key(line.label), at)).collect();
    let mut changes = Vec::with_capacity(before.len());
    let mut change = |a: Option<(Label, Cell, Cell)>, b: Option<(Label, Cell, Cell)>| {
        let cells = |side: Option<(Label, Cell, Cell)>| {
            side.map_or_else(Default::default, |(_, total, own)| (total, own))
        };
        let ((total_a, own_a), (total_b, own_b)) = (cells(a), cells(b));
        let (before, after) = (first.bytes(total_a), second.bytes(total_b));
        changes.push(Change {
            first: a.map(|(label, ..)| label),
            second: b.map(|(label, ..)| label),
            before,
            after,
            own_before: first.bytes(own_a),
            own_after: second.bytes(own_b),
            blocks_before: total_a.blocks * first.scale,
            blocks_after: total_b.blocks * second.scale,
            status: Status::of(before, after),
        });
    };
    let parts = |line: &Line| (line.label, line.total, line.own);
    let mut gone = Vec::new();
    for line in &before {
        match others.remove(first.key(line.label)) {
            Some(at) => change(Some(parts(line)), Some(parts(&after[at]))),
            None => gone.push(*line),
        }
    }
    let is_new = |line: &&Line| others.contains_key(second.key(line.label));
    let new: Vec<Line> = after.iter().filter(is_new).copied().collect();
    let mut is_paired = [vec![false; gone.len()], vec![false; new.len()]];
    for (old, at) in renamed::pairs([first, second], [&gone, &new]) {
        change(Some(parts(&gone[old])), Some(parts(&new[at])));
        (is_paired[0][old], is_paired[1][at]) = (true, true);
    }
    for (line, _) in gone.iter().zip(&is_paired[0]).filter(|(_, is_paired)| !**is_paired) {
        change(Some(parts(line)), None);
    }
    for (line, _) in new.iter().zip(&is_paired[1]).filter(|(_, is_paired)| !**is_paired) {
        change(None, Some(parts(line)));
    }
    changes
}

/// Numbers for the keys of both sides.
struct Union<'a> {
    sides: [Side<'a>; 2],
    keys: Vec<&'a str>,
    /// The number of each entity of a side.
    of: [Vec<u32>; 2],
}

impl<'a> Union<'a> {
    fn new(sides: [Side<'a>; 2]) -> Self {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut keys = Vec::new();
        let of = sides.map(|side| {
            let entities = side.view.entities;
            let all = (0..entities.len() as u32).map(|id| entities.key(Entity(id)));
            all.map(|key| {
                *numbers.entry(key).or_insert_with(|| {
                    keys.push(key);
                    keys.len() as u32 - 1
                })
            })
            .collect()
        });
        Self { sides, keys, of }
    }

    fn bytes(&self, cells: [Cell; 2]) -> [Estimate; 2] {
        [self.sides[0].bytes(cells[0]), self.sides[1].bytes(cells[1])]
    }
}

/// What stands on a box next, on both sides.
struct Group {
    number: u32,
    cells: [Cell; 2],
    nodes: [Vec<u32>; 2],
}

impl Group {
    fn new(number: u32) -> Self {
        Self { number, cells: Default::default(), nodes: Default::default() }
    }
}

/// The flame graphs of a focus on both sides as one, inwards; the focus is given by its keys, and
/// is everything if there are none. Boxes come from the heaviest on, by the larger of both sides.
pub fn compare_flame(
    first: Side<'_>,
    second: Side<'_>,
    focus: &[&str],
    limits: Limits,
) -> UnionFlame {
    let union = Union::new([first, second]);
    let levels = union.sides.map(|side| Level::new(side.view, By::Function));
    let mut root = Group::new(NO_ENTITY);
    for (side, level) in levels.iter().enumerate() {
        for found in matches(level, focus) {
            root.cells[side] += found.cell;
            root.nodes[side].push(found.node);
        }
    }
    let key = focus.last().copied().unwrap_or("<toplevel>");
    let mut flame = Building { flame: UnionFlame::default(), names: FxHashMap::default() };
    let whole = larger(union.bytes(root.cells));
    // Those that may become boxes: the larger side, number, and on which box.
    let mut waiting = BinaryHeap::from([(Weight(whole), Reverse(0_usize), 0)]);
    let mut contents = vec![root];
    let mut group_of = vec![NO_ENTITY; union.keys.len()];
    let mut groups: Vec<Group> = Vec::new();
    while let Some((_, Reverse(number), parent)) = waiting.pop() {
        if flame.flame.parent.len() >= limits.boxes.max(1) {
            flame.flame.more[parent as usize] = true;
            continue;
        }
        let group = &mut contents[number];
        let key = if number == 0 { key } else { union.keys[group.number as usize] };
        let at = flame.push(parent, key, union.bytes(group.cells));
        let nodes = std::mem::take(&mut group.nodes);
        for (side, (level, nodes)) in levels.iter().zip(nodes).enumerate() {
            for node in nodes {
                level.children(node, |child| {
                    let number = union.of[side][level.label(child) as usize];
                    let place = &mut group_of[number as usize];
                    if *place == NO_ENTITY {
                        *place = groups.len() as u32;
                        groups.push(Group::new(number));
                    }
                    let group = &mut groups[*place as usize];
                    group.cells[side] += level.subtree(child);
                    group.nodes[side].push(child);
                });
            }
        }
        for group in &groups {
            group_of[group.number as usize] = NO_ENTITY;
        }
        let all = groups.len();
        groups.retain(|group| larger(union.bytes(group.cells)) >= whole * limits.cutoff);
        flame.flame.more[at as usize] = groups.len() < all;
        for group in groups.drain(..) {
            let weight = Weight(larger(union.bytes(group.cells)));
            waiting.push((weight, Reverse(contents.len()), at));
            contents.push(group);
        }
    }
    flame.flame
}

/// Where a focus occurs on one side.
fn matches(level: &Level<'_>, focus: &[&str]) -> Vec<Match> {
    let entities = level.view.entities;
    let focus = if focus.is_empty() { &["<toplevel>"] } else { focus };
    let path: Option<Vec<u32>> = focus.iter().map(|key| entities.find(key).map(|e| e.0)).collect();
    path.map_or_else(Vec::new, |path| level.matches(&path))
}

fn larger([before, after]: [Estimate; 2]) -> f64 {
    before.value.max(after.value)
}

/// Bytes, ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight(f64);

impl Eq for Weight {}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

struct Building<'a> {
    flame: UnionFlame,
    names: FxHashMap<&'a str, u32>,
}

impl<'a> Building<'a> {
    fn push(&mut self, parent: u32, key: &'a str, [before, after]: [Estimate; 2]) -> u32 {
        let flame = &mut self.flame;
        let name = *self.names.entry(key).or_insert_with(|| {
            flame.names.push(key.to_owned());
            flame.names.len() as u32 - 1
        });
        flame.parent.push(parent);
        flame.name.push(name);
        flame.before.push(before.value);
        flame.after.push(after.value);
        flame.status.push(Status::of(before, after));
        flame.more.push(false);
        flame.parent.len() as u32 - 1
    }
}
