//! The call paths of a selection as one tree, a node a function, at a source position or wherever:
//! backtraces that begin alike share their beginning.

use memtrail_trace::{FunctionId, Site, StackId};
use rustc_hash::FxHashMap;

use crate::naming::NO_FILE;
use crate::selection::Selection;
use crate::significant::{self, Kept};
use crate::weight::Weight;

/// A tree of call paths. Node 0 is the root, which is in no function; parents stand before their
/// children.
pub(crate) struct Paths {
    /// The positions, each once.
    pub(crate) frames: Vec<Site>,
    parents: Vec<u32>,
    /// Index in `frames`; meaningless for the root.
    frame: Vec<u32>,
    own: Vec<Weight>,
    /// The node of each backtrace; that of its nearest caller that is used, for others.
    of_stack: Vec<u32>,
}

/// A step of the walk through a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Enter(u32),
    Leave(u32),
}

/// How much of backtraces is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// All of them.
    Everything,
    /// The outermost occurrence of each function.
    Outermost,
    /// The same, without where in the function.
    Functions,
}

/// A function, wherever in it.
const fn anywhere(function: FunctionId) -> Site {
    Site { function, file: NO_FILE, line: 0, start_col: 0, end_col: 0 }
}

impl Paths {
    /// The paths of a selection's backtraces that `keep` does, without hidden functions and what
    /// has no debug information; as the format can take them, if that is not as they are.
    pub(crate) fn new(selection: &Selection<'_>, keep: impl Fn(&Weight) -> bool) -> Self {
        if selection.is_whole {
            return Self::build(selection, keep, Detail::Everything);
        }
        let mut paths = Self::build(selection, keep, Detail::Outermost);
        paths.shrink(selection);
        paths
    }

    /// The same by function alone, and only the outermost occurrence of each, as the page has it.
    pub(crate) fn of_functions(selection: &Selection<'_>) -> Self {
        let mut paths = Self::build(selection, |_| true, Detail::Functions);
        paths.shrink(selection);
        paths
    }

    /// Leaves out what carries too little.
    fn shrink(&mut self, selection: &Selection<'_>) {
        let Kept { least, at } = significant::keep(&self.parents, &mut self.own, selection.most);
        selection.left_out(least);
        if least == 1 {
            return;
        }
        // The new number of each node that is kept. Those above it are kept, too.
        let mut number = vec![0_u32; at.len()];
        let mut count = 0;
        for node in 0..at.len() {
            if at[node] as usize == node {
                self.parents[count] = number[self.parents[node] as usize];
                self.frame[count] = self.frame[node];
                self.own[count] = self.own[node];
                number[node] = count as u32;
                count += 1;
            }
        }
        self.parents.truncate(count);
        self.frame.truncate(count);
        self.own.truncate(count);
        for node in &mut self.of_stack {
            *node = number[at[*node as usize] as usize];
        }
    }

    fn build(selection: &Selection<'_>, keep: impl Fn(&Weight) -> bool, detail: Detail) -> Self {
        let (stacks, weights) = (&selection.profile.stacks, selection.weights());
        let keep = |weight: &Weight| !weight.is_nothing() && keep(weight);
        let mut used: Vec<bool> = weights.iter().map(keep).collect();
        // Children stand after their parents.
        for index in (1..used.len()).rev() {
            if used[index] {
                used[stacks.parents()[index].0 as usize] = true;
            }
        }
        let mut paths = Self {
            frames: Vec::new(),
            parents: vec![0],
            frame: vec![u32::MAX],
            own: vec![Weight::default()],
            of_stack: vec![0; used.len()],
        };
        let (mut frames, mut nodes) = (FxHashMap::default(), FxHashMap::default());
        for (index, weight) in weights.iter().enumerate() {
            let stack = StackId(index as u32);
            let mut at = paths.of_stack[stacks.parent(stack).0 as usize];
            if !used[index] {
                paths.of_stack[index] = at;
                continue;
            }
            let sites: &[Site] = match stack {
                StackId::ROOT => &[],
                stack => selection.profile.locations.at(stacks.frame(stack)),
            };
            for site in sites.iter().filter(|site| !selection.hides(site.function)) {
                let site = match selection.naming.collapsed(site.function) {
                    // Functions of a collapsed module that call each other are one.
                    Some(module) if paths.ends_with(at, module) => continue,
                    Some(module) => anywhere(module),
                    None if detail != Detail::Everything && paths.has(at, site.function) => {
                        continue;
                    }
                    None if detail == Detail::Functions => anywhere(site.function),
                    None => *site,
                };
                let frame = *frames.entry(site).or_insert_with(|| {
                    paths.frames.push(site);
                    paths.frames.len() as u32 - 1
                });
                at = *nodes.entry((at, frame)).or_insert_with(|| {
                    paths.parents.push(at);
                    paths.frame.push(frame);
                    paths.own.push(Weight::default());
                    paths.parents.len() as u32 - 1
                });
            }
            paths.of_stack[index] = at;
            if keep(weight) {
                paths.own[at as usize] += *weight;
            }
        }
        paths
    }

    /// Whether a function is the last on the path of a node.
    fn ends_with(&self, node: u32, function: FunctionId) -> bool {
        node != 0 && self.frames[self.frame[node as usize] as usize].function == function
    }

    /// Whether a function is on the path of a node.
    fn has(&self, mut node: u32, function: FunctionId) -> bool {
        while node != 0 {
            if self.frames[self.frame[node as usize] as usize].function == function {
                return true;
            }
            node = self.parents[node as usize];
        }
        false
    }

    /// Adds a node below another.
    pub(crate) fn push(&mut self, parent: u32, frame: usize) -> u32 {
        self.parents.push(parent);
        self.frame.push(frame as u32);
        self.own.push(Weight::default());
        self.parents.len() as u32 - 1
    }

    /// Counts what a node allocates itself at another one.
    pub(crate) fn move_own(&mut self, from: u32, to: u32) {
        let moved = std::mem::take(&mut self.own[from as usize]);
        self.own[to as usize] += moved;
    }

    /// Gives backtraces other nodes.
    pub(crate) fn redirect(&mut self, instead: &FxHashMap<u32, u32>) {
        for node in &mut self.of_stack {
            *node = instead.get(node).copied().unwrap_or(*node);
        }
    }

    /// Nodes, the root included.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// Where a node is in [`frames`](Self::frames); not for the root.
    pub(crate) fn frame(&self, node: u32) -> usize {
        self.frame[node as usize] as usize
    }

    /// What was allocated there itself.
    pub(crate) fn own(&self, node: u32) -> Weight {
        self.own[node as usize]
    }

    /// The node that has what a backtrace allocates.
    pub(crate) fn of(&self, stack: StackId) -> u32 {
        self.of_stack[stack.0 as usize]
    }

    /// All nodes but the root, each entered before and left after its children; siblings in the
    /// order of the trace.
    pub(crate) fn walk(&self) -> impl Iterator<Item = Step> + '_ {
        // Siblings as lists, last first, so that a stack gives them in order.
        let mut siblings = vec![0_u32; self.len()];
        let mut last = vec![0_u32; self.len()];
        for (node, &parent) in self.parents.iter().enumerate().skip(1) {
            siblings[node] = std::mem::replace(&mut last[parent as usize], node as u32);
        }
        let mut ahead = Vec::new();
        let push_children = move |node: u32, ahead: &mut Vec<Step>| {
            let mut child = last[node as usize];
            while child != 0 {
                ahead.push(Step::Enter(child));
                child = siblings[child as usize];
            }
        };
        push_children(0, &mut ahead);
        std::iter::from_fn(move || {
            let step = ahead.pop()?;
            if let Step::Enter(node) = step {
                ahead.push(Step::Leave(node));
                push_children(node, &mut ahead);
            }
            Some(step)
        })
    }
}
