//! Call paths in the order of time: boxes as in a flame graph, but as wide as the time in which, or
//! the amount of memory over which, samples that follow each other have them in common.
//!
//! The width is divided into columns. A column shows the path that carries most of it: at each depth
//! the heaviest function, as long as it carries more than what ends there. Boxes of columns beside each
//! other are one where all that is below them is. In time a path is shown until the next sample.

use rustc_hash::FxHashMap;

use super::below::starts;
use super::entities::{Entity, NO_ENTITY};
use super::tree::CallTree;
use super::view::View;
use crate::filter::Resolved;
use crate::profile::Profile;

/// What the width stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Microseconds since the recording's start.
    #[default]
    Time,
    /// Samples of the selection in the focus: time that stops while nothing is allocated.
    Allocation,
}

/// How the width is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Maximum number of columns of the whole.
    pub whole: u64,
    /// A stretch, in units of the clock, that has columns of its own.
    pub near: Option<(u64, u64)>,
    /// Maximum number of these.
    pub fine: u64,
    /// Maximum number of boxes: of more, the deepest are left out.
    pub boxes: usize,
}

/// Boxes in columns, in the order of time; parents stand before their children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeOrder {
    /// What the whole width is, in units of the clock.
    pub extent: u64,
    /// Samples in the focus.
    pub samples: u64,
    /// On which box each stands; the first stands on itself.
    pub parent: Vec<u32>,
    /// What each box is for.
    pub entity: Vec<Entity>,
    /// Where each begins and ends.
    pub span: Vec<(u64, u64)>,
    /// Samples between these with the box's path; not only those that are shown.
    pub weight: Vec<u64>,
    /// Whether boxes that would stand on it were left out because they are too deep.
    pub more: Vec<bool>,
}

/// A sampled block: when it came, where its path ends, and how much it is.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    time: u64,
    leaf: u32,
    samples: u64,
}

/// The order of time below a focus; of everything if the focus is empty.
pub fn time_order(
    profile: &Profile,
    filter: &Resolved,
    view: View<'_>,
    focus: &[Entity],
    clock: Clock,
    columns: Columns,
) -> TimeOrder {
    let tree = view.tree;
    let focus: Vec<u32> = match focus {
        [] => vec![Entity::TOPLEVEL.0],
        _ => focus.iter().map(|entity| entity.0).collect(),
    };
    let starts = starts(view, &focus);
    let blocks = &profile.blocks;
    let leaves = tree.leaf_of_stack();
    let mut sampled: Vec<Sampled> = (filter.rows(profile))
        .map(|kept| Sampled {
            time: kept.born.0,
            leaf: leaves[blocks.stack(kept.row).0 as usize],
            samples: blocks.samples(kept.row),
        })
        .filter(|one| starts[one.leaf as usize] != NO_ENTITY && one.samples > 0)
        .collect();
    // Those of several domains do not come in order; what is promoted neither.
    sampled.sort_by_key(|one| one.time);
    let samples = sampled.iter().map(|one| one.samples).sum();
    let extent = match clock {
        Clock::Time => sampled.last().map_or(0, |last| profile.end.0.max(last.time) + 1),
        Clock::Allocation => samples,
    };
    let edges = edges(extent, columns);
    let mut building = Building::new(tree, &starts, focus[focus.len() - 1], extent, samples);
    let (mut next, mut passed) = (0, 0_u64);
    let mut column: FxHashMap<u32, u64> = FxHashMap::default();
    for pair in edges.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        column.clear();
        while let Some(one) = sampled.get(next) {
            match clock {
                Clock::Time if one.time >= right => break,
                Clock::Time => {
                    *column.entry(one.leaf).or_default() += one.samples;
                    next += 1;
                }
                Clock::Allocation => {
                    // A block of many samples is in several columns.
                    let end = passed + one.samples;
                    let inside = end.min(right) - passed.max(left);
                    *column.entry(one.leaf).or_default() += inside;
                    if end > right {
                        break;
                    }
                    passed = end;
                    next += 1;
                    if end == right {
                        break;
                    }
                }
            }
        }
        building.column(left, right, &column);
    }
    building.finish(columns.boxes)
}

/// Where columns begin, and where the last ends.
fn edges(extent: u64, columns: Columns) -> Vec<u64> {
    let divide = |from: u64, to: u64, parts: u64| {
        let parts = parts.clamp(1, (to - from).max(1));
        (0..=parts).map(move |at| {
            from + (u128::from(to - from) * u128::from(at) / u128::from(parts)) as u64
        })
    };
    let mut edges: Vec<u64> = divide(0, extent, columns.whole).collect();
    if let Some((from, to)) = columns.near {
        let (from, to) = (from.min(extent), to.min(extent));
        if from < to {
            edges.retain(|&edge| edge < from || edge > to);
            edges.extend(divide(from, to, columns.fine));
            edges.sort_unstable();
        }
    }
    edges.dedup();
    edges
}

/// Boxes as columns come.
struct Building<'a> {
    tree: &'a CallTree,
    starts: &'a [u32],
    made: TimeOrder,
    depth: Vec<u32>,
    /// The boxes of the last column, the root first.
    open: Vec<u32>,
}

impl<'a> Building<'a> {
    fn new(tree: &'a CallTree, starts: &'a [u32], root: u32, extent: u64, samples: u64) -> Self {
        let made = TimeOrder { extent, samples, ..TimeOrder::default() };
        let mut building = Self { tree, starts, made, depth: Vec::new(), open: Vec::new() };
        if samples > 0 {
            building.push(0, 0, Entity(root), (0, extent), samples);
            building.open.push(0);
        }
        building
    }

    fn push(
        &mut self,
        parent: u32,
        depth: u32,
        entity: Entity,
        span: (u64, u64),
        weight: u64,
    ) -> u32 {
        self.made.parent.push(parent);
        self.made.entity.push(entity);
        self.made.span.push(span);
        self.made.weight.push(weight);
        self.made.more.push(false);
        self.depth.push(depth);
        self.depth.len() as u32 - 1
    }

    /// What a column holds: samples by the node at which their path ends.
    fn column(&mut self, left: u64, right: u64, samples: &FxHashMap<u32, u64>) {
        if samples.is_empty() {
            for &at in self.open.iter().skip(1) {
                self.made.span[at as usize].1 = right;
            }
            return;
        }
        let path = heaviest(samples.iter().map(|(&leaf, &samples)| (self.path(leaf), samples)));
        let shared = self.open.iter().skip(1).zip(&path);
        let common =
            shared.take_while(|&(&at, &(entity, _))| self.made.entity[at as usize] == entity);
        let common = common.count();
        self.open.truncate(common + 1);
        for (depth, &(entity, weight)) in path.iter().enumerate() {
            if depth < common {
                let at = self.open[depth + 1] as usize;
                self.made.span[at].1 = right;
                self.made.weight[at] += weight;
            } else {
                let parent = self.open[depth];
                let at = self.push(parent, depth as u32 + 1, entity, (left, right), weight);
                self.open.push(at);
            }
        }
    }

    /// What is on the way from the focus to a node.
    fn path(&self, leaf: u32) -> Vec<Entity> {
        let start = self.starts[leaf as usize];
        let mut path = Vec::new();
        let mut at = leaf;
        while at != start {
            path.push(self.tree.entity(at));
            at = self.tree.parent(at);
        }
        path.reverse();
        path
    }

    /// The boxes, of which so many may be.
    fn finish(self, boxes: usize) -> TimeOrder {
        let Self { mut made, depth, .. } = self;
        if depth.len() <= boxes.max(1) {
            return made;
        }
        let mut of_depth =
            vec![0_usize; depth.iter().max().map_or(0, |&deepest| deepest as usize + 1)];
        for &depth in &depth {
            of_depth[depth as usize] += 1;
        }
        let mut sum = 0;
        let fits = of_depth.iter().take_while(|&&count| {
            sum += count;
            sum <= boxes.max(1)
        });
        let deepest = fits.count().max(1) as u32 - 1;
        let mut number = vec![0_u32; depth.len()];
        let mut kept = 0;
        for at in 0..depth.len() {
            let parent = number[made.parent[at] as usize];
            if depth[at] > deepest {
                // Its parent, or what that stands on.
                number[at] = parent;
                made.more[parent as usize] = true;
                continue;
            }
            number[at] = kept as u32;
            made.parent[kept] = parent;
            made.entity[kept] = made.entity[at];
            made.span[kept] = made.span[at];
            made.weight[kept] = made.weight[at];
            made.more[kept] = false;
            kept += 1;
        }
        made.parent.truncate(kept);
        made.entity.truncate(kept);
        made.span.truncate(kept);
        made.weight.truncate(kept);
        made.more.truncate(kept);
        made
    }
}

/// The path that is taken by most: at each depth the heaviest element, unless more ends there.
fn heaviest(paths: impl Iterator<Item = (Vec<Entity>, u64)>) -> Vec<(Entity, u64)> {
    let mut with: Vec<(Vec<Entity>, u64)> = paths.collect();
    let mut path = Vec::new();
    let mut weights: FxHashMap<Entity, u64> = FxHashMap::default();
    loop {
        let depth = path.len();
        weights.clear();
        let mut ends = 0;
        for (one, samples) in &with {
            match one.get(depth) {
                Some(&entity) => *weights.entry(entity).or_default() += samples,
                None => ends += samples,
            }
        }
        // Of equal ones the first by number, whatever the order of the map.
        let best =
            weights.iter().max_by_key(|&(&entity, &weight)| (weight, std::cmp::Reverse(entity)));
        let Some((&entity, &weight)) = best.filter(|&(_, &weight)| weight >= ends) else {
            return path;
        };
        path.push((entity, weight));
        with.retain(|(one, _)| one.get(depth) == Some(&entity));
    }
}
