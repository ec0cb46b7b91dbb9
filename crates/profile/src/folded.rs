//! Backtraces as lists of functions, folded: equal ones are one, and of a function that occurs
//! several times only the outermost counts. Flame graph tools take these (`a;b;c 42`).

use memtrail_trace::{FunctionId, StackId, Tables};
use rustc_hash::FxHashMap;

use crate::depth_first::{Visit, walk};
use crate::samples::StackSamples;

/// A tree of functions; node 0 is the root. A child's id is greater than its parent's.
#[derive(Debug)]
pub struct Folded {
    parents: Vec<u32>,
    functions: Vec<FunctionId>,
    samples: Vec<u64>,
    /// All nodes but the root, by parent and then by name.
    order: Vec<u32>,
    /// Where the children of each node begin in `order`.
    starts: Vec<u32>,
}

impl Folded {
    /// Folds all backtraces. Frames without debug information leave no trace.
    pub fn new(samples: &StackSamples, tables: &Tables) -> Self {
        let mut folding = Folding {
            samples,
            tables,
            folded: Self {
                parents: vec![0],
                functions: vec![FunctionId::default()],
                samples: vec![samples.of(StackId::ROOT)],
                order: Vec::new(),
                starts: Vec::new(),
            },
            children: FxHashMap::default(),
            on_path: vec![0; tables.locations.functions().len()],
            path: vec![0],
        };
        walk(&tables.stacks, &mut folding);
        let mut folded = folding.folded;
        folded.sort(tables);
        folded
    }

    fn sort(&mut self, tables: &Tables) {
        let names = tables.locations.functions();
        let mut by_name: Vec<FunctionId> = names.iter().map(|(id, _)| id).collect();
        by_name.sort_unstable_by_key(|&id| names.get(id));
        let mut rank = vec![0_u32; by_name.len()];
        for (place, id) in (0..).zip(&by_name) {
            rank[id.0 as usize] = place;
        }
        self.order = (1..self.parents.len() as u32).collect();
        self.order.sort_unstable_by_key(|&node| {
            (self.parents[node as usize], rank[self.functions[node as usize].0 as usize])
        });
        let mut starts = vec![0_u32; self.parents.len() + 1];
        for &parent in &self.parents[1..] {
            starts[parent as usize + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        self.starts = starts;
    }

    /// Calls `each` with every backtrace of at least two functions, outermost first, and its
    /// samples; in the order of the alphabet, a backtrace before those that go on from it.
    pub fn for_each<E>(
        &self,
        mut each: impl FnMut(&[FunctionId], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut path = Vec::new();
        let mut ahead = vec![self.children(0)];
        while let Some(siblings) = ahead.last_mut() {
            let Some((&node, rest)) = siblings.split_first() else {
                ahead.pop();
                path.pop();
                continue;
            };
            *siblings = rest;
            path.push(self.functions[node as usize]);
            let samples = self.samples[node as usize];
            if samples > 0 && path.len() > 1 {
                each(&path, samples)?;
            }
            ahead.push(self.children(node));
        }
        Ok(())
    }

    fn children(&self, node: u32) -> &[u32] {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.order[start as usize..end as usize]
    }
}

struct Folding<'a> {
    samples: &'a StackSamples,
    tables: &'a Tables,
    folded: Folded,
    children: FxHashMap<(u32, FunctionId), u32>,
    /// How often each function is on the path to the node being visited.
    on_path: Vec<u32>,
    /// The folded node of each node of that path, that of the root first.
    path: Vec<u32>,
}

impl Visit for Folding<'_> {
    fn enter(&mut self, node: StackId) {
        let mut at = self.path.last().copied().unwrap_or(0);
        for site in self.tables.locations.at(self.tables.stacks.frame(node)) {
            let occurrences = &mut self.on_path[site.function.0 as usize];
            *occurrences += 1;
            if *occurrences == 1 {
                at = *self.children.entry((at, site.function)).or_insert_with(|| {
                    self.folded.parents.push(at);
                    self.folded.functions.push(site.function);
                    self.folded.samples.push(0);
                    self.folded.parents.len() as u32 - 1
                });
            }
        }
        self.folded.samples[at as usize] += self.samples.of(node);
        self.path.push(at);
    }

    fn leave(&mut self, node: StackId) {
        for site in self.tables.locations.at(self.tables.stacks.frame(node)) {
            self.on_path[site.function.0 as usize] -= 1;
        }
        self.path.pop();
    }
}
