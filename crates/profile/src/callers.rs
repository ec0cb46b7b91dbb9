//! The callers that matter: from where a place is called, cut where the path divides.
//!
//! Backtraces are followed outwards from the place. Callers are distinguished by function. As long
//! as (nearly) everything comes from one caller, callers form a *chain*; where it divides, each
//! branch that holds a fair share starts a new chain, and small ones are left out. A function
//! is on a path only once, where it is met first: recursion, mutual too, folds up, and the
//! function is marked. Frames without debug information are passed over.
//!
//! Time: each step looks at the distinct nodes of the tree of backtraces that the path has reached.
//! Those become fewer from step to step, as backtraces share their outer ends; and of the nodes
//! that recursion passes over, each is visited once a step.

use std::collections::BinaryHeap;

use memtrail_trace::{FileId, FunctionId, Locations, Site, StackId, StackTree};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::allocating_frame::allocating;
use crate::sites::{Key, Places};

/// A call on the path outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The calling function.
    pub function: FunctionId,
    /// Where the call stands.
    pub file: FileId,
    /// The line of the heaviest call.
    pub line: u32,
    /// Whether calls on other lines lead here, too.
    pub lines_differ: bool,
    /// Whether the function is also met further out.
    pub recursive: bool,
}

/// A chain of callers, and what comes in at its outer end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Samples that come by this path.
    pub samples: u64,
    /// The callers, innermost first; never empty.
    pub chain: Vec<Step>,
    /// The paths that meet at the outer end, the heaviest first. Together they may have fewer
    /// samples than this one.
    pub branches: Vec<Caller>,
}

/// What is worth showing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// A branch must hold this share of the place's samples.
    pub share: f64,
    /// A chain goes on while this share of its own samples does.
    pub dominant: f64,
    /// A branch must hold so many samples, or it is chance.
    pub samples: u64,
    /// The most branches at one point.
    pub branches: usize,
    /// The most points, one after the other, at which a path divides.
    pub divisions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { share: 0.1, dominant: 0.9, samples: 3, branches: 3, divisions: 3 }
    }
}

/// A site of a frame of a backtrace. Ordered so that what is further out is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cursor {
    node: StackId,
    site: u8,
}

type Item = (Cursor, u64);

/// Samples that have the same caller next.
struct Part {
    function: FunctionId,
    samples: u64,
    items: Vec<Item>,
}

/// The callers of the place `key`, whose blocks have these backtraces and samples.
pub fn callers(
    stacks: &StackTree,
    places: &Places<'_>,
    locations: &Locations,
    key: Key,
    blocks: &[(StackId, u64)],
    limits: Limits,
) -> Vec<Caller> {
    let total: u64 = blocks.iter().map(|&(_, samples)| samples).sum();
    let least = ((total as f64 * limits.share).ceil() as u64).max(limits.samples);
    let mut walk = Walk {
        stacks,
        locations,
        places,
        limits,
        least,
        seen: FxHashSet::default(),
        inside: Some(key),
        met_again: FxHashSet::default(),
    };
    if let Key::Site(function, ..) | Key::Function(function) = key {
        walk.seen.insert(function);
    }
    let mut items: Vec<Item> = blocks
        .iter()
        .filter(|&&(node, _)| node != StackId::ROOT)
        .map(|&(node, samples)| (walk.innermost(allocating(locations, stacks, node)), samples))
        .collect();
    merge(&mut items);
    let parts = walk.divide(items);
    walk.inside = None;
    walk.branches(parts, 0)
}

struct Walk<'a> {
    stacks: &'a StackTree,
    locations: &'a Locations,
    places: &'a Places<'a>,
    limits: Limits,
    least: u64,
    /// Functions on the path so far.
    seen: FxHashSet<FunctionId>,
    /// The place itself, while the path has not left it.
    inside: Option<Key>,
    /// Functions on the path that were met again further out.
    met_again: FxHashSet<FunctionId>,
}

impl Walk<'_> {
    fn sites(&self, node: StackId) -> &[Site] {
        if node == StackId::ROOT { &[] } else { self.locations.at(self.stacks.frame(node)) }
    }

    fn innermost(&self, node: StackId) -> Cursor {
        Cursor { node, site: self.sites(node).len().saturating_sub(1) as u8 }
    }

    fn site(&self, cursor: Cursor) -> Option<Site> {
        self.sites(cursor.node).get(usize::from(cursor.site)).copied()
    }

    /// The next site further out, and where it is; `None` beyond the outermost one.
    fn outer(&self, mut cursor: Cursor) -> Option<(Cursor, Site)> {
        loop {
            cursor = match cursor.site.checked_sub(1) {
                Some(site) => Cursor { site, ..cursor },
                None => self.innermost(self.stacks.parent(cursor.node)),
            };
            if cursor.node == StackId::ROOT {
                return None;
            }
            if let Some(site) = self.site(cursor) {
                return Some((cursor, site));
            }
        }
    }

    /// Goes one caller outwards from each item, and puts those with the same caller together.
    fn divide(&mut self, items: Vec<Item>) -> Vec<Part> {
        let mut parts: FxHashMap<FunctionId, Vec<Item>> = FxHashMap::default();
        // What has met a function again and must go on; the innermost first, so that what comes
        // from several sides meets before it goes further.
        let mut passing = BinaryHeap::new();
        for (cursor, samples) in items {
            self.go_out(cursor, samples, &mut parts, &mut passing);
        }
        while let Some((cursor, mut samples)) = passing.pop() {
            while let Some(&(next, more)) = passing.peek()
                && next == cursor
            {
                samples += more;
                passing.pop();
            }
            self.go_out(cursor, samples, &mut parts, &mut passing);
        }
        let mut parts: Vec<Part> = parts
            .into_iter()
            .map(|(function, items)| {
                let samples = items.iter().map(|&(_, samples)| samples).sum();
                Part { function, samples, items }
            })
            .collect();
        parts.sort_by_key(|part| (std::cmp::Reverse(part.samples), part.function));
        parts
    }

    fn go_out(
        &mut self,
        cursor: Cursor,
        samples: u64,
        parts: &mut FxHashMap<FunctionId, Vec<Item>>,
        passing: &mut BinaryHeap<Item>,
    ) {
        let Some((cursor, site)) = self.outer(cursor) else { return };
        let again = self.seen.contains(&site.function);
        if again {
            self.met_again.insert(site.function);
        }
        if again || self.inside.is_some_and(|key| self.places.key(site) == key) {
            passing.push((cursor, samples));
        } else {
            parts.entry(site.function).or_default().push((cursor, samples));
        }
    }

    fn branches(&mut self, parts: Vec<Part>, divided: usize) -> Vec<Caller> {
        let least = self.least;
        parts
            .into_iter()
            .take(self.limits.branches)
            .take_while(|part| part.samples >= least)
            .map(|part| self.chain(part, divided))
            .collect()
    }

    fn chain(&mut self, mut part: Part, divided: usize) -> Caller {
        let samples = part.samples;
        let go_on = ((samples as f64 * self.limits.dominant).ceil() as u64).max(self.least);
        let mut chain = Vec::new();
        let rest = loop {
            merge(&mut part.items);
            chain.push(self.step(&part));
            self.seen.insert(part.function);
            let mut parts = self.divide(std::mem::take(&mut part.items));
            match parts.first() {
                Some(first) if first.samples >= go_on => part = parts.swap_remove(0),
                _ => break parts,
            }
        };
        let branches = if divided + 1 < self.limits.divisions {
            self.branches(rest, divided + 1)
        } else {
            Vec::new()
        };
        for step in &mut chain {
            self.seen.remove(&step.function);
            step.recursive = self.met_again.remove(&step.function);
        }
        Caller { samples, chain, branches }
    }

    fn step(&self, part: &Part) -> Step {
        let mut lines: FxHashMap<(FileId, u32), u64> = FxHashMap::default();
        for &(cursor, samples) in &part.items {
            if let Some(site) = self.site(cursor) {
                *lines.entry((site.file, site.line)).or_default() += samples;
            }
        }
        let heaviest = lines
            .iter()
            .max_by_key(|&(&(file, line), &samples)| (samples, std::cmp::Reverse((file, line))));
        let (file, line) = heaviest.map_or((FileId(u32::MAX), 0), |(&at, _)| at);
        let lines_differ = lines.len() > 1;
        Step { function: part.function, file, line, lines_differ, recursive: false }
    }
}

/// Adds up the samples of equal cursors.
fn merge(items: &mut Vec<Item>) {
    items.sort_unstable_by_key(|&(cursor, _)| cursor);
    items.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}
