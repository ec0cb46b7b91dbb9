//! The tree of call paths: the trace's backtraces as paths of functions.
//!
//! A path begins at the toplevel and goes inwards. Of a function that occurs several times on it,
//! only the outermost occurrence is kept; inlined functions are functions like others; frames
//! without debug information and hidden functions are left out. The last node of a path is the
//! site that allocated, unless its frame is unknown or hidden.
//!
//! Nodes stand in preorder, so a subtree is a range of them.

use memtrail_trace::{FrameId, FunctionId, StackId, StackTree};

use super::entities::{Entities, Entity, NONE};
use super::suffixes::Suffixes;
use crate::profile::Profile;
use std::sync::OnceLock;

/// The first node on its path that is of its module.
pub(super) const FIRST_OF_MODULE: u8 = 1;
/// The first node on its path that is of its file.
pub(super) const FIRST_OF_FILE: u8 = 2;

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
    /// The tree of all backtraces, without some functions.
    pub fn new(
        profile: &Profile,
        entities: &Entities,
        hidden: impl Fn(FunctionId) -> bool,
    ) -> Self {
        let frames = Frames::new(profile, entities, hidden);
        let mut build = Build {
            frames,
            stacks: &profile.stacks,
            entities,
            children: Children::new(&profile.stacks),
            on_path: vec![false; entities.len()],
            modules: vec![0; entities.modules().len()],
            files: vec![0; entities.files().len()],
            tree: Self {
                entity: Vec::new(),
                parent: Vec::new(),
                end: Vec::new(),
                first: Vec::new(),
                leaf_of_stack: vec![0; profile.stacks.len()],
                suffixes: OnceLock::new(),
            },
        };
        build.all();
        build.tree
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
    /// The site that allocates when the frame is the innermost, or [`NONE`].
    sites: Vec<u32>,
}

impl Frames {
    fn new(profile: &Profile, entities: &Entities, hidden: impl Fn(FunctionId) -> bool) -> Self {
        let locations = &profile.locations;
        let mut frames = Self { starts: vec![0], functions: vec![], sites: vec![] };
        for frame in 0..locations.frames() as u32 {
            let sites = locations.at(FrameId(frame));
            for site in sites.iter().filter(|site| !hidden(site.function)) {
                frames.functions.extend(entities.of_function(site.function).map(|e| e.0));
            }
            frames.starts.push(frames.functions.len() as u32);
            let innermost = sites.last().filter(|site| !hidden(site.function));
            let site = innermost.and_then(|&site| entities.of_site(site));
            frames.sites.push(site.map_or(NONE, |site| site.0));
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
        self.sites.get(frame.0 as usize).copied().unwrap_or(NONE)
    }
}

/// The children of each backtrace, as linked lists.
struct Children {
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Children {
    fn new(stacks: &StackTree) -> Self {
        let parents = stacks.parents();
        let mut first = vec![0_u32; parents.len()];
        let mut next = vec![0_u32; parents.len()];
        for (node, parent) in parents.iter().enumerate().skip(1).rev() {
            next[node] = std::mem::replace(&mut first[parent.0 as usize], node as u32);
        }
        Self { first, next }
    }
}

/// A backtrace of which the first functions are on the path.
#[derive(Clone, Copy)]
struct Item {
    stack: u32,
    /// How many of its innermost frame's functions.
    done: u16,
}

/// The whole of a backtrace, and the site: more than a frame can have functions.
const SITE: u16 = u16::MAX;

enum Step {
    /// A node for the backtraces from `start` in the list of items on.
    Enter { entity: u32, parent: u32, start: u32 },
    /// The subtree of a node is done.
    Leave { node: u32 },
}

struct Build<'a> {
    frames: Frames,
    stacks: &'a StackTree,
    entities: &'a Entities,
    children: Children,
    on_path: Vec<bool>,
    /// How many nodes of each module are on the path; likewise files.
    modules: Vec<u32>,
    files: Vec<u32>,
    tree: CallTree,
}

impl Build<'_> {
    fn all(&mut self) {
        let mut steps = vec![Step::Enter { entity: Entity::TOPLEVEL.0, parent: 0, start: 0 }];
        // Those of the step to be taken next stand last.
        let mut items = vec![Item { stack: 0, done: 0 }];
        let mut here = Vec::new();
        let mut below = Vec::new();
        while let Some(step) = steps.pop() {
            let (entity, parent, start) = match step {
                Step::Enter { entity, parent, start } => (entity, parent, start as usize),
                Step::Leave { node } => {
                    self.leave(node);
                    continue;
                }
            };
            let node = self.enter(entity, parent);
            steps.push(Step::Leave { node });
            here.extend(items.drain(start..));
            self.advance(node, &mut here, &mut below);
            if below.len() > 1 && below.iter().any(|&(entity, _)| entity != below[0].0) {
                below.sort_unstable_by_key(|&(entity, item): &(u32, Item)| (entity, item.stack));
            }
            // The step pushed last is taken first, and its items are the last.
            let mut last = NONE;
            for (entity, item) in below.drain(..).rev() {
                if entity != last {
                    let start = items.len() as u32;
                    steps.push(Step::Enter { entity, parent: node, start });
                    last = entity;
                }
                items.push(item);
            }
        }
    }

    /// Finds what comes next on the path of each backtrace `here`.
    fn advance(&mut self, node: u32, here: &mut Vec<Item>, below: &mut Vec<(u32, Item)>) {
        while let Some(Item { stack, done }) = here.pop() {
            if done == SITE {
                self.tree.leaf_of_stack[stack as usize] = node;
                continue;
            }
            let frame = self.stacks.frame(StackId(stack));
            let functions = self.frames.functions(frame);
            let rest = &functions[usize::from(done)..];
            if let Some(skip) = rest.iter().position(|&f| !self.on_path[f as usize]) {
                let item = Item { stack, done: done + skip as u16 + 1 };
                below.push((rest[skip], item));
                continue;
            }
            self.tree.leaf_of_stack[stack as usize] = node;
            let site = self.frames.site(frame);
            if site != NONE && self.entities.allocates(StackId(stack)) {
                below.push((site, Item { stack, done: SITE }));
            }
            let mut child = self.children.first[stack as usize];
            while child != 0 {
                here.push(Item { stack: child, done: 0 });
                child = self.children.next[child as usize];
            }
        }
    }

    fn enter(&mut self, entity: u32, parent: u32) -> u32 {
        let node = self.tree.entity.len() as u32;
        self.tree.entity.push(entity);
        self.tree.parent.push(parent);
        self.tree.end.push(node + 1);
        self.on_path[entity as usize] = true;
        let mut first = 0;
        if let Some(on_path) =
            self.modules.get_mut(self.entities.module_column()[entity as usize] as usize)
        {
            first |= if *on_path == 0 { FIRST_OF_MODULE } else { 0 };
            *on_path += 1;
        }
        if let Some(on_path) =
            self.files.get_mut(self.entities.file_column()[entity as usize] as usize)
        {
            first |= if *on_path == 0 { FIRST_OF_FILE } else { 0 };
            *on_path += 1;
        }
        self.tree.first.push(first);
        node
    }

    fn leave(&mut self, node: u32) {
        self.tree.end[node as usize] = self.tree.entity.len() as u32;
        let entity = self.tree.entity[node as usize] as usize;
        self.on_path[entity] = false;
        if let Some(on_path) = self.modules.get_mut(self.entities.module_column()[entity] as usize)
        {
            *on_path -= 1;
        }
        if let Some(on_path) = self.files.get_mut(self.entities.file_column()[entity] as usize) {
            *on_path -= 1;
        }
    }
}
