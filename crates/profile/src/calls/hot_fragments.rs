//! Points of interest: the functions and the call paths that carry the weight.
//!
//! A *fragment* is a contiguous piece of a call path, the site that allocated included; its total is
//! that of the blocks on whose path it stands.
//!
//! - A fragment is **heavy** if more than 0.5 % of all samples are in blocks on whose path it
//!   stands, but in no longer heavy fragment: what longer ones do not explain.
//! - **Paths** are the heavy fragments: each is as long as it can be for the weight that it carries.
//! - The **representative** of a function or site is the longest fragment that is contained in the
//!   same heavy ones.
//! - **Functions** are the single functions and sites of heavy fragments; of those with the same
//!   representative only the innermost is kept.
//!
//! What all but 0.5 % passes through says nothing about where the weight is. It is left out, unless
//! it ends at an allocation site or nothing else is there.
//!
//! Heavy fragments and functions are those of `memtrace_viewer`. It counts fragments lossily (to
//! within 0.01 %), and takes a sample that two overlapping heavy fragments explain off twice; here
//! counts are exact. Its paths are other ones: the representatives that contain no other one, so
//! that what all leaks have in common hides the leaks.
//!
//! # How
//!
//! Only fragments that cannot be made longer at either end without losing blocks can be heavy or
//! representatives. They are the ranges of the [order of paths read outwards](super::suffixes)
//! between two of which paths begin to differ: linear in the size of the tree, however long paths
//! are. Taken from the longest to the shortest, each asks the tree below its occurrences how much
//! of it is under a heavy fragment that reaches as far out as itself.

use std::cmp::Reverse;

use memtrail_order::SortRows as _;
use rustc_hash::FxHashMap;

use super::entities::{Entity, Kind, NO_ENTITY};
use super::suffixes::Suffixes;
use super::view::View;

/// A piece of a call path that carries weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// Its entities, the outermost first.
    pub path: Vec<Entity>,
    /// Samples in blocks on whose path it stands.
    pub samples: u64,
}

/// Points of interest, both lists the heaviest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HotFragments {
    /// The share that makes a fragment heavy. It is what was asked for, unless so many fragments
    /// are heavy that nobody could look at them.
    pub significance: f64,
    /// Functions and sites; each path has one element.
    pub functions: Vec<Suspect>,
    /// Call paths.
    pub paths: Vec<Suspect>,
}

/// The share that makes a fragment heavy.
pub const SIGNIFICANCE: f64 = 0.005;
/// Fragments that are looked at. Traces of real programs have some thousands.
const CANDIDATES: usize = 1 << 17;
/// Entities in all heavy fragments.
const ENTITIES: usize = 1 << 22;

/// The points of interest among what was chosen; `significance` is usually [`SIGNIFICANCE`].
pub fn hot_fragments(view: View<'_>, significance: f64) -> HotFragments {
    let samples = view.cells.all().samples;
    let mut found = HotFragments { significance, ..HotFragments::default() };
    if samples == 0 {
        return found;
    }
    let weighed = Weighed::new(view);
    let heavy = loop {
        let least = (samples as f64 * found.significance) as u64;
        if let Some(heavy) = weighed.fragments(least).and_then(|all| weighed.heavy(all, least)) {
            break heavy;
        }
        found.significance *= 2.0;
    };
    let least = (samples as f64 * found.significance) as u64;
    let functions = Classes::new(&weighed, &heavy).functions(&weighed);
    found.functions = telling(&weighed, functions, samples - least);
    found.paths = telling(&weighed, paths(&weighed, &heavy), samples - least);
    found
}

/// The hot fragments without those that have so many samples that they say nothing.
fn telling(weighed: &Weighed<'_>, hot_fragments: Vec<Suspect>, too_many: u64) -> Vec<Suspect> {
    let entities = weighed.view.entities;
    let is_site = |suspect: &Suspect| {
        suspect.path.last().is_some_and(|entity| entities.kind(*entity) == Kind::Site)
    };
    let (tell, other): (Vec<_>, Vec<_>) =
        hot_fragments.into_iter().partition(|some| some.samples < too_many || is_site(some));
    if tell.is_empty() { other } else { tell }
}

fn paths(weighed: &Weighed<'_>, heavy: &[Fragment]) -> Vec<Suspect> {
    let suspect = |fragment: &Fragment| Suspect {
        path: weighed.path(fragment).into_iter().map(Entity).collect(),
        samples: fragment.samples,
    };
    let mut paths: Vec<Suspect> = heavy.iter().map(suspect).collect();
    sort(&mut paths);
    paths
}

/// A fragment: some innermost entities of some nodes' paths.
#[derive(Clone, Copy, Debug)]
struct Fragment {
    len: u32,
    /// Where its last entity stands: a range of the order of suffixes.
    from: u32,
    to: u32,
    samples: u64,
}

/// A tree with its weights.
struct Weighed<'a> {
    view: View<'a>,
    suffixes: &'a Suffixes,
    /// Samples in each node's subtree.
    weight: Vec<u64>,
    /// The child through which all of a node's weight comes, as an entity, or [`NO_ENTITY`].
    only: Vec<u32>,
    /// Samples in blocks on whose path an entity stands.
    totals: Vec<u64>,
}

/// A range of nodes that have a fragment in common, still open to more.
struct Open {
    len: u32,
    from: u32,
    samples: u64,
    only: u32,
}

impl<'a> Weighed<'a> {
    fn new(view: View<'a>) -> Self {
        let tree = view.tree;
        let (entities, parents, ends) = (tree.entities(), tree.parents(), tree.ends());
        let mut weight = vec![0; tree.len()];
        let mut only = vec![NO_ENTITY; tree.len()];
        let mut totals = vec![0; view.entities.len()];
        let mut node = 0;
        while node < tree.len() {
            let samples = view.cells.samples(node as u32, ends[node]);
            if samples == 0 {
                node = ends[node] as usize;
                continue;
            }
            weight[node] = samples;
            totals[entities[node] as usize] += samples;
            let parent = parents[node] as usize;
            if node > 0 && weight[parent] == samples {
                only[parent] = entities[node];
            }
            node += 1;
        }
        Self { view, suffixes: tree.suffixes(), weight, only, totals }
    }

    /// All fragments of more than `least` samples that lose some when made longer at either end;
    /// `None` if there are too many.
    fn fragments(&self, least: u64) -> Option<Vec<Fragment>> {
        let Suffixes { order, common, depth, .. } = self.suffixes;
        let entities = self.view.tree.entities();
        let mut found = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        // The place after the last node that counts, and what it has in common with this one.
        let (mut end, mut shared) = (0, 0);
        for (place, &node) in order.iter().enumerate() {
            shared = shared.min(common[place]);
            let samples = self.weight[node as usize];
            if samples == 0 || node == 0 || self.totals[entities[node as usize] as usize] <= least {
                continue;
            }
            close(&mut open, shared, end, least, &mut found);
            let (len, only) = (depth[node as usize], self.only[node as usize]);
            open.push(Open { len, from: place as u32, samples, only });
            (end, shared) = (place as u32 + 1, u32::MAX);
            if found.len() > CANDIDATES {
                return None;
            }
        }
        close(&mut open, 0, end, least, &mut found);
        Some(found)
    }

    /// Those that are heavy, the longest first; `None` if there are too many.
    fn heavy(&self, mut fragments: Vec<Fragment>, least: u64) -> Option<Vec<Fragment>> {
        fragments.sort_rows_by_key(|fragment| (Reverse(fragment.len), fragment.from));
        let mut explained = Explained::new(self);
        let mut entities = 0;
        let mut heavy = Vec::new();
        for fragment in fragments {
            if explained.leaves(&fragment, least) {
                explained.by(&fragment);
                entities += fragment.len as usize;
                heavy.push(fragment);
                if entities > ENTITIES {
                    return None;
                }
            }
        }
        Some(heavy)
    }

    fn nodes(&self, fragment: &Fragment) -> impl Iterator<Item = usize> {
        let places = fragment.from as usize..fragment.to as usize;
        let nodes = self.suffixes.order[places].iter().map(|&node| node as usize);
        nodes.filter(|&node| self.weight[node] > 0)
    }

    /// The entities of a fragment, the outermost first.
    fn path(&self, fragment: &Fragment) -> Vec<u32> {
        let mut node = self.suffixes.order[fragment.from as usize];
        let mut path = Vec::with_capacity(fragment.len as usize);
        for _ in 0..fragment.len {
            path.push(self.view.tree.entities()[node as usize]);
            node = self.view.tree.parent(node);
        }
        path.reverse();
        path
    }
}

/// Closes the ranges that have more than `len` entities in common.
fn close(open: &mut Vec<Open>, len: u32, to: u32, least: u64, found: &mut Vec<Fragment>) {
    while let Some(done) = open.pop_if(|last| last.len > len) {
        if done.samples > least && done.only == NO_ENTITY {
            let Open { len, from, samples, .. } = done;
            found.push(Fragment { len, from, to, samples });
        }
        match open.last_mut() {
            Some(outer) if outer.len >= len => {
                outer.samples += done.samples;
                if outer.only != done.only {
                    outer.only = NO_ENTITY;
                }
            }
            _ if len > 0 => open.push(Open { len, ..done }),
            _ => {}
        }
    }
}

/// Which samples heavy fragments explain.
struct Explained<'a> {
    weighed: &'a Weighed<'a>,
    /// The depth to which the longest heavy fragment that ends at a node reaches out.
    ending: Vec<u32>,
    /// The least such depth of the nodes in a node's subtree, if it is the node's or less.
    below: Vec<u32>,
}

impl<'a> Explained<'a> {
    fn new(weighed: &'a Weighed<'a>) -> Self {
        let far = vec![u32::MAX; weighed.weight.len()];
        Self { weighed, ending: far.clone(), below: far }
    }

    fn start(&self, fragment: &Fragment, node: usize) -> u32 {
        self.weighed.suffixes.depth[node] + 1 - fragment.len
    }

    /// Whether more than `least` samples of a fragment are not explained.
    fn leaves(&self, fragment: &Fragment, least: u64) -> bool {
        let mut left = fragment.samples;
        for node in self.weighed.nodes(fragment) {
            left -= self.within(node, self.start(fragment, node));
            if left <= least {
                return false;
            }
        }
        true
    }

    /// Samples of a subtree that are explained by fragments that reach out to depth `start`.
    fn within(&self, node: usize, start: u32) -> u64 {
        let ends = self.weighed.view.tree.ends();
        let end = ends[node] as usize;
        let (mut at, mut samples) = (node, 0);
        while at < end {
            if self.below[at] > start {
                at = ends[at] as usize;
            } else if self.ending[at] <= start {
                samples += self.weighed.weight[at];
                at = ends[at] as usize;
            } else {
                at += 1;
            }
        }
        samples
    }

    /// A fragment is heavy, and explains what is in it.
    fn by(&mut self, fragment: &Fragment) {
        let parents = self.weighed.view.tree.parents();
        for node in self.weighed.nodes(fragment) {
            let start = self.start(fragment, node);
            self.ending[node] = self.ending[node].min(start);
            let mut at = node;
            for _ in 0..fragment.len {
                // What reaches further out has been here before, all the way.
                if self.below[at] <= start {
                    break;
                }
                self.below[at] = start;
                at = parents[at] as usize;
            }
        }
    }
}

/// An entity, and how far all heavy fragments that it is in agree around it.
#[derive(Clone, Copy)]
struct Around {
    /// One of these fragments, and the place in it.
    fragment: u32,
    at: u32,
    left: u32,
    right: u32,
}

/// A representative, by its place in the order of suffixes and its length.
type Class = (u32, u32);

/// Which entities have the same representative.
struct Classes {
    /// Entity, its place in its representative, and that.
    members: Vec<(u32, u32, Class)>,
}

impl Classes {
    fn new(weighed: &Weighed<'_>, heavy: &[Fragment]) -> Self {
        let paths: Vec<Vec<u32>> = heavy.iter().map(|fragment| weighed.path(fragment)).collect();
        let mut around: Vec<Option<Around>> = vec![None; weighed.view.entities.len()];
        let mut met = Vec::new();
        for (fragment, path) in paths.iter().enumerate() {
            for (at, &entity) in path.iter().enumerate() {
                let place = &mut around[entity as usize];
                if place.is_none() {
                    met.push(entity);
                    *place = Some(Around {
                        fragment: fragment as u32,
                        at: at as u32,
                        left: at as u32,
                        right: (path.len() - 1 - at) as u32,
                    });
                }
            }
            agree(&paths, path, &mut around, false);
            agree(&paths, path, &mut around, true);
        }
        let mut classes = Self { members: Vec::new() };
        for entity in met {
            let Some(Around { fragment, at, left, right }) = around[entity as usize] else {
                continue;
            };
            let inside = heavy[fragment as usize];
            let mut last = weighed.suffixes.order[inside.from as usize];
            for _ in 0..inside.len - 1 - (at + right) {
                last = weighed.view.tree.parent(last);
            }
            let len = left + 1 + right;
            let (from, _) = weighed.suffixes.like(last, len);
            classes.members.push((entity, left, (from as u32, len)));
        }
        classes
    }

    fn functions(&self, weighed: &Weighed<'_>) -> Vec<Suspect> {
        let mut innermost: FxHashMap<Class, (u32, u32)> = FxHashMap::default();
        for &(entity, at, class) in &self.members {
            let kept = innermost.entry(class).or_insert((at, entity));
            *kept = (*kept).max((at, entity));
        }
        let mut functions: Vec<Suspect> = innermost
            .into_values()
            .map(|(_, e)| Suspect { path: vec![Entity(e)], samples: weighed.totals[e as usize] })
            .collect();
        sort(&mut functions);
        functions
    }
}

fn sort(hot_fragments: &mut [Suspect]) {
    hot_fragments.sort_rows_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.path.cmp(&b.path)));
}

/// Shortens what is known around each entity of a path to what the path agrees with, on one side.
fn agree(paths: &[Vec<u32>], path: &[u32], around: &mut [Option<Around>], right: bool) {
    // How far the last entity agreed, and where it is in which other path.
    let mut last: Option<(u32, u32, u32)> = None;
    for step in 0..path.len() {
        let at = if right { path.len() - 1 - step } else { step };
        let Some(place) = &mut around[path[at] as usize] else { continue };
        let other = &paths[place.fragment as usize];
        let next_to = if right { place.at + 1 } else { place.at.wrapping_sub(1) };
        let same = match last {
            Some((fragment, at, same)) if (fragment, at) == (place.fragment, next_to) => same + 1,
            _ if right => count_equal(&path[at + 1..], &other[place.at as usize + 1..]),
            _ => {
                let ours = path[..at].iter().rev();
                let theirs = other[..place.at as usize].iter().rev();
                ours.zip(theirs).take_while(|(a, b)| a == b).count() as u32
            }
        };
        let side = if right { &mut place.right } else { &mut place.left };
        *side = (*side).min(same);
        last = Some((place.fragment, place.at, same));
    }
}

fn count_equal(ours: &[u32], theirs: &[u32]) -> u32 {
    ours.iter().zip(theirs).take_while(|(a, b)| a == b).count() as u32
}
