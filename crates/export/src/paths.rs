//! The call paths of a selection as one tree, a node a function, at a source position or wherever:
//! backtraces that begin alike share their beginning.

use memtrail_trace::{FileId, FunctionId, Site, StackId};
use rustc_hash::FxHashMap;

use crate::selection::Selection;
use crate::significant::{self, Most};
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

/// A function, wherever in it.
const fn anywhere(function: FunctionId) -> Site {
    Site { function, file: FileId(0), line: 0, start_col: 0, end_col: 0 }
}

impl Paths {
    /// The paths of a selection's backtraces that `keep` does, without hidden functions and what
    /// has no debug information.
    pub(crate) fn new(selection: &Selection<'_>, keep: impl Fn(&Weight) -> bool) -> Self {
        Self::build(selection, keep, false)
    }

    /// The same by function alone, and only the outermost occurrence of each, as the page has it;
    /// what carries too little for `most` is told as its callers'.
    pub(crate) fn of_functions(selection: &Selection<'_>, most: Most) -> Self {
        let mut paths = Self::build(selection, |_| true, true);
        selection.left_out(significant::keep(&paths.parents, &mut paths.own, most));
        paths
    }

    fn build(
        selection: &Selection<'_>,
        keep: impl Fn(&Weight) -> bool,
        functions_only: bool,
    ) -> Self {
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
                let site = if functions_only { anywhere(site.function) } else { *site };
                let frame = *frames.entry(site).or_insert_with(|| {
                    paths.frames.push(site);
                    paths.frames.len() as u32 - 1
                });
                if functions_only && paths.has(at, frame) {
                    continue;
                }
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

    /// Whether a frame is on the path of a node.
    fn has(&self, mut node: u32, frame: u32) -> bool {
        while node != 0 {
            if self.frame[node as usize] == frame {
                return true;
            }
            node = self.parents[node as usize];
        }
        false
    }

    /// Nodes, the root included.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// Where a node stands in [`frames`](Self::frames); not for the root.
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
