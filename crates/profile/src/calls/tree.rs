//! The tree of call paths: the trace's backtraces as paths of functions.
//!
//! A path begins at the toplevel and goes inwards. Of a function that occurs several times on it,
//! only the outermost occurrence is kept, unless [`Transforms`] ask for all; inlined functions are
//! functions like others; frames without debug information and hidden functions are left out. The
//! last node of a path is the site that allocated, unless its frame is unknown, hidden or collapsed.
//!
//! Nodes are in preorder, so a subtree is a range of them.

use std::sync::OnceLock;

use memtrail_trace::{FrameId, StackId};
use rustc_hash::FxHashMap;

use super::entities::{Entities, Entity, Kind, NO_ENTITY};
use super::suffixes::Suffixes;
use crate::allocating_frame::{allocating, is_passed_over};
use crate::filter::{FunctionSet, Resolved};
use crate::profile::Profile;

/// The first node on its path that is of its module.
pub(super) const FIRST_OF_MODULE: u8 = 1;
/// The first node on its path that is of its file.
pub(super) const FIRST_OF_FILE: u8 = 2;

/// What becomes of functions that occur several times on a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Recursion {
    /// The outermost occurrence is kept.
    #[default]
    Folded,
    /// All occurrences are. Totals by function are then not those of blocks, which [`mod@super::table`],
    /// [`mod@super::hot_fragments`] and [`super::compare`] rely on: such a tree is for flame graphs and
    /// searches.
    Shown,
}

/// How backtraces become paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Transforms {
    /// Functions that are left out; what they call, their callers call.
    pub hidden: FunctionSet,
    /// Functions of modules that are one node where they follow each other.
    pub collapsed: FunctionSet,
    /// What becomes of functions that occur several times.
    pub recursion: Recursion,
}

impl Transforms {
    /// What the conditions of a filter ask for.
    pub fn of(filter: &Resolved, recursion: Recursion) -> Self {
        let (hidden, collapsed) = (filter.hidden(), filter.collapsed());
        // Sets that have nothing are the same, however many functions there are.
        let set =
            |set: &FunctionSet| if set.is_empty() { FunctionSet::default() } else { set.clone() };
        Self { hidden: set(hidden), collapsed: set(collapsed), recursion }
    }
}

/// A tree of call paths. Node 0 is the root.
#[derive(Debug)]
pub struct CallTree {
    entity: Vec<u32>,
    parent: Vec<u32>,
    end: Vec<u32>,
    first: Vec<u8>,
    leaf_of_stack: Vec<u32>,
    suffixes: OnceLock<Suffixes>,
}

impl CallTree {
    /// The tree of all backtraces, transformed.
    pub fn new(profile: &Profile, entities: &Entities, transforms: &Transforms) -> Self {
        let frames = Frames::new(profile, entities, transforms);
        let stacks = &profile.stacks;
        let mut met = Met::new(entities, transforms.recursion);
        // The node of the functions of each backtrace, and of its site.
        let mut nodes = vec![0_u32; stacks.len()];
        let mut leaves = vec![0_u32; stacks.len()];
        for (stack, (parent, &frame)) in stacks.parents().iter().zip(stacks.frames()).enumerate() {
            // A parent has a lower number; the root's frame is no frame.
            let mut node = nodes[parent.0 as usize];
            for &function in frames.functions(frame) {
                node = met.next(node, function);
            }
            nodes[stack] = node;
            let stack_id = StackId(stack as u32);
            let frame = stacks.frame(allocating(&profile.locations, stacks, stack_id));
            let site = frames.site(frame);
            let has_site = site != NO_ENTITY && entities.allocates(stack_id);
            leaves[stack] = if has_site { met.next(node, site) } else { node };
        }
        drop(nodes);
        met.arrange(leaves)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.entity.len()
    }

    /// Never: the root is always there.
    pub fn is_empty(&self) -> bool {
        self.entity.is_empty()
    }

    /// What stands at a node.
    pub fn entity(&self, node: u32) -> Entity {
        Entity(self.entity[node as usize])
    }

    /// The node that a node hangs on; the root for the root.
    pub fn parent(&self, node: u32) -> u32 {
        self.parent[node as usize]
    }

    /// The node after a node's subtree.
    pub fn end(&self, node: u32) -> u32 {
        self.end[node as usize]
    }

    /// The node at which the path of each backtrace ends, by [`StackId`].
    pub fn leaf_of_stack(&self) -> &[u32] {
        &self.leaf_of_stack
    }

    /// The entities from the outermost, the toplevel, to a node's.
    pub fn path(&self, node: u32) -> Vec<Entity> {
        let mut path = vec![self.entity(node)];
        let mut at = node;
        while at != 0 {
            at = self.parent(at);
            path.push(self.entity(at));
        }
        path.reverse();
        path
    }

    /// Bytes that the columns occupy.
    pub fn memory(&self) -> usize {
        let suffixes = self.suffixes.get().map_or(0, Suffixes::memory);
        self.len() * 13 + self.leaf_of_stack.len() * 4 + suffixes
    }

    pub(super) fn entities(&self) -> &[u32] {
        &self.entity
    }

    pub(super) fn parents(&self) -> &[u32] {
        &self.parent
    }

    pub(super) fn ends(&self) -> &[u32] {
        &self.end
    }

    pub(super) fn firsts(&self) -> &[u8] {
        &self.first
    }

    /// The nodes in the order of their paths read outwards; made when first asked for.
    pub(super) fn suffixes(&self) -> &Suffixes {
        self.suffixes.get_or_init(|| Suffixes::new(&self.entity, &self.parent))
    }
}

/// What each frame adds to a path.
struct Frames {
    /// Where the functions of each frame begin; one more than there are frames.
    starts: Vec<u32>,
    /// Visible functions, the caller first.
    functions: Vec<u32>,
    /// The site that allocates when the frame is the innermost, or [`NO_ENTITY`].
    sites: Vec<u32>,
}

impl Frames {
    fn new(profile: &Profile, entities: &Entities, transforms: &Transforms) -> Self {
        let Transforms { hidden, collapsed, .. } = transforms;
        let locations = &profile.locations;
        let mut frames = Self { starts: vec![0], functions: vec![], sites: vec![] };
        for frame in 0..locations.frames() as u32 {
            let mut sites = locations.at(FrameId(frame));
            if is_passed_over(locations, FrameId(frame)) {
                sites = &[];
            }
            for site in sites.iter().filter(|site| !hidden.contains(site.function)) {
                let entity = if collapsed.contains(site.function) {
                    entities.of_module(site.function)
                } else {
                    entities.of_function(site.function)
                };
                frames.functions.extend(entity.map(|entity| entity.0));
            }
            frames.starts.push(frames.functions.len() as u32);
            let is_shown = |function| !hidden.contains(function) && !collapsed.contains(function);
            let innermost = sites.last().filter(|site| is_shown(site.function));
            let site = innermost.and_then(|&site| entities.of_site(site));
            frames.sites.push(site.map_or(NO_ENTITY, |site| site.0));
        }
        frames
    }

    fn functions(&self, frame: FrameId) -> &[u32] {
        // The root's frame is no frame.
        let Some(&[start, end]) = self.starts.get(frame.0 as usize..).and_then(|s| s.first_chunk())
        else {
            return &[];
        };
        &self.functions[start as usize..end as usize]
    }

    fn site(&self, frame: FrameId) -> u32 {
        self.sites.get(frame.0 as usize).copied().unwrap_or(NO_ENTITY)
    }
}

/// A tree as it comes into being: nodes in the order of being met.
///
/// Backtraces are gone through in the order of their numbers, each from its parent's node on.
/// What a node's path becomes by one more function is looked up: that is another node, or the
/// node itself if the function is on the path, or is a collapsed module that the path ends with.
struct Met<'a> {
    entities: &'a Entities,
    recursion: Recursion,
    entity: Vec<u32>,
    parent: Vec<u32>,
    depth: Vec<u32>,
    /// The first entity that came after each node, and where it led.
    first: Vec<(u32, u32)>,
    /// Where others led, by node and entity.
    others: FxHashMap<(u32, u32), u32>,
    /// The path that was asked for last, and which entities are on it.
    path: Vec<u32>,
    on_path: Vec<bool>,
}

impl<'a> Met<'a> {
    fn new(entities: &'a Entities, recursion: Recursion) -> Self {
        let mut met = Self {
            entities,
            recursion,
            entity: Vec::new(),
            parent: Vec::new(),
            depth: Vec::new(),
            first: Vec::new(),
            others: FxHashMap::default(),
            path: vec![0],
            on_path: vec![false; entities.len()],
        };
        met.add(0, 0, Entity::TOPLEVEL.0);
        met
    }

    fn add(&mut self, parent: u32, depth: u32, entity: u32) -> u32 {
        self.entity.push(entity);
        self.parent.push(parent);
        self.depth.push(depth);
        self.first.push((NO_ENTITY, 0));
        self.entity.len() as u32 - 1
    }

    /// The node of a node's path with one more entity.
    #[inline]
    fn next(&mut self, node: u32, entity: u32) -> u32 {
        let (first, target) = self.first[node as usize];
        if first == entity {
            return target;
        }
        if first != NO_ENTITY
            && let Some(&target) = self.others.get(&(node, entity))
        {
            return target;
        }
        let stays = match self.recursion {
            Recursion::Folded => {
                self.go_to(node);
                self.on_path[entity as usize]
            }
            Recursion::Shown => {
                self.entity[node as usize] == entity
                    && self.entities.kind(Entity(entity)) == Kind::Module
            }
        };
        let target =
            if stays { node } else { self.add(node, self.depth[node as usize] + 1, entity) };
        if first == NO_ENTITY {
            self.first[node as usize] = (entity, target);
        } else {
            self.others.insert((node, entity), target);
        }
        target
    }

    /// Makes `path` that of a node; usually it is near the last one.
    fn go_to(&mut self, node: u32) {
        let mut at = node;
        let mut missing = Vec::new();
        while self.path.get(self.depth[at as usize] as usize) != Some(&at) {
            missing.push(at);
            at = self.parent[at as usize];
        }
        for left in self.path.drain(self.depth[at as usize] as usize + 1..) {
            self.on_path[self.entity[left as usize] as usize] = false;
        }
        for &node in missing.iter().rev() {
            self.on_path[self.entity[node as usize] as usize] = true;
            self.path.push(node);
        }
    }

    /// The nodes in preorder, and the new number of each. `leaf_of_stack` has the old ones.
    fn arrange(self, mut leaf_of_stack: Vec<u32>) -> CallTree {
        let Self { entities, entity, parent, .. } = self;
        let nodes = entity.len();
        // The children of each node as a linked list, in the order of being met.
        let (mut child, mut sibling) = (vec![0_u32; nodes], vec![0_u32; nodes]);
        for node in (1..nodes).rev() {
            sibling[node] = std::mem::replace(&mut child[parent[node] as usize], node as u32);
        }
        let mut on_path = OnPath::new(entities);
        let mut tree = CallTree {
            entity: Vec::with_capacity(nodes),
            parent: Vec::with_capacity(nodes),
            end: vec![0; nodes],
            first: Vec::with_capacity(nodes),
            leaf_of_stack: Vec::new(),
            suffixes: OnceLock::new(),
        };
        let mut numbers = vec![0; nodes];
        let mut at = 0;
        'all: loop {
            numbers[at] = tree.entity.len() as u32;
            tree.entity.push(entity[at]);
            tree.parent.push(numbers[parent[at] as usize]);
            tree.first.push(on_path.enter(entity[at]));
            if child[at] != 0 {
                at = child[at] as usize;
                continue;
            }
            loop {
                tree.end[numbers[at] as usize] = tree.entity.len() as u32;
                on_path.leave(entity[at]);
                if at == 0 {
                    break 'all;
                }
                if sibling[at] != 0 {
                    at = sibling[at] as usize;
                    break;
                }
                at = parent[at] as usize;
            }
        }
        for leaf in &mut leaf_of_stack {
            *leaf = numbers[*leaf as usize];
        }
        tree.leaf_of_stack = leaf_of_stack;
        tree
    }
}

/// How many nodes of each module and file are on a path.
struct OnPath<'a> {
    module_of: &'a [u32],
    file_of: &'a [u32],
    modules: Vec<u32>,
    files: Vec<u32>,
}

impl<'a> OnPath<'a> {
    fn new(entities: &'a Entities) -> Self {
        Self {
            module_of: entities.module_column(),
            file_of: entities.file_column(),
            modules: vec![0; entities.modules().len()],
            files: vec![0; entities.files().len()],
        }
    }

    /// Of what the entity is the first.
    fn enter(&mut self, entity: u32) -> u8 {
        let mut first = 0;
        if let Some(count) = self.modules.get_mut(self.module_of[entity as usize] as usize) {
            first |= if *count == 0 { FIRST_OF_MODULE } else { 0 };
            *count += 1;
        }
        if let Some(count) = self.files.get_mut(self.file_of[entity as usize] as usize) {
            first |= if *count == 0 { FIRST_OF_FILE } else { 0 };
            *count += 1;
        }
        first
    }

    fn leave(&mut self, entity: u32) {
        if let Some(count) = self.modules.get_mut(self.module_of[entity as usize] as usize) {
            *count -= 1;
        }
        if let Some(count) = self.files.get_mut(self.file_of[entity as usize] as usize) {
            *count -= 1;
        }
    }
}
