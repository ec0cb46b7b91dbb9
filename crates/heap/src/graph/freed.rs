//! What would be freed if a group of blocks and holders were gone: what can be reached without them.
//!
//! Not the sum of what they retain one by one: what only several of them together keep alive is
//! freed as well.

use super::bits::Bits;
use super::column::Place;
use super::csr::{Csr, Pairs};
use super::ephemerons::Waiting;
use super::pieces::gather;
use super::{EVERYTHING, Graph, HolderId, NONE, SHARED};
use crate::label::RootKind;
use crate::read::{Columns, Error, Snapshot};
use crate::units::{BlockIndex, Bytes, Words};

/// What is to be gone.
#[derive(Clone, Debug)]
pub struct Gone {
    blocks: Bits,
    count: u32,
    any: bool,
    holders: Vec<HolderId>,
}

impl Gone {
    /// Nothing of a snapshot.
    pub fn nothing(snapshot: &Snapshot<'_>) -> Self {
        let count = snapshot.blocks();
        Self { blocks: Bits::new(count as usize), count, any: false, holders: Vec::new() }
    }

    /// A block, too.
    pub fn block(&mut self, block: BlockIndex) {
        if block.0 < self.count {
            self.any = true;
            self.blocks.insert(block.0);
        }
    }

    /// A holder and those below it, too.
    pub fn holder(&mut self, holder: HolderId) {
        self.holders.push(holder);
    }

    fn contains(&self, block: u32) -> bool {
        self.blocks.contains(block)
    }
}

/// How much would be freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Blocks' sizes, headers counted.
    pub words: Words,
    /// Bytes outside the heap.
    pub external: Bytes,
}

impl Freed {
    fn add(&mut self, words: u64, external: u64) {
        self.words = Words(self.words.0 + words);
        self.external += Bytes(external);
    }
}

/// Trees of which only a part is left.
struct Rest {
    /// For each block that hangs from no node of the core by itself the nearest head or block that
    /// is gone; [`SHARED`] for these.
    tops: Vec<u32>,
    /// The trees' nodes.
    touched: Bits,
    /// Edges that are left of them.
    edges: Csr,
    /// For each node how much is left of its tree.
    left: Vec<Freed>,
}

impl Graph {
    /// What would be freed if all of `gone` were not there.
    ///
    /// Data of ephemerons goes with the ephemeron and with each of its keys. A value that is kept by
    /// its finaliser stays so; one that would come to be kept by it counts as freed.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn freed(
        &self,
        snapshot: &Snapshot<'_>,
        gone: &Gone,
        threads: usize,
    ) -> Result<Freed, Error> {
        let holders = self.holders.len();
        let mut cut = Bits::new(self.core.nodes());
        for holder in &gone.holders {
            if (holder.0 as usize) < holders {
                cut.insert(holder.0);
            }
        }
        for holder in 0..holders as u32 {
            let above = self.above[holder as usize];
            if above != NONE && cut.contains(above) {
                cut.insert(holder);
            }
        }
        if gone.any {
            for (node, head) in (holders as u32..).zip(self.heads.bits().iter()) {
                if gone.contains(head) {
                    cut.insert(node);
                }
            }
        }
        let rest = self.rest(snapshot, gone, threads)?;
        let mut all = Freed::default();
        for node in holders as u32..self.core.nodes() as u32 {
            // Of what nothing keeps alive anyway, nothing is counted.
            if self.via[node as usize - holders] != NONE {
                all.add(self.weight(node), self.external.weight(node));
            }
        }
        let left = self.left(snapshot, gone, &cut, rest.as_ref());
        Ok(Freed {
            words: Words(all.words.0.saturating_sub(left.words.0)),
            external: Bytes(all.external.0.saturating_sub(left.external.0)),
        })
    }

    /// How much can be reached without what is `cut`.
    fn left(&self, snapshot: &Snapshot<'_>, gone: &Gone, cut: &Bits, rest: Option<&Rest>) -> Freed {
        let mut left = Freed::default();
        let mut reached = Bits::new(self.core.nodes());
        let mut waiting = Waiting::default();
        if !self.conditional.is_empty() {
            for (number, ephemeron) in (0..).zip(&snapshot.ephemerons) {
                let Some(data) = ephemeron.data else { continue };
                if !self.is_reachable(data) || self.is_static(data.0) {
                    continue;
                }
                let blocks = std::iter::once(ephemeron.block).chain(ephemeron.keys.iter().copied());
                let nodes: Option<Vec<u32>> =
                    blocks.map(|block| self.node_left(block.0, gone, rest)).collect();
                if let Some(nodes) = nodes {
                    waiting.add(nodes.into_iter(), number, &reached);
                }
            }
        }
        let mut todo = Vec::new();
        if !cut.contains(EVERYTHING.0) {
            reached.insert(EVERYTHING.0);
            todo.push(EVERYTHING.0);
        }
        let mut complete = Vec::new();
        while let Some(from) = todo.pop() {
            let mut reach = |to: u32| {
                if !cut.contains(to) && reached.insert(to) {
                    todo.push(to);
                }
            };
            match rest {
                Some(rest) if rest.touched.contains(from) => {
                    left.add(rest.left[from as usize].words.0, rest.left[from as usize].external.0);
                    rest.edges.of(from).iter().copied().for_each(&mut reach);
                }
                _ => {
                    left.add(self.weight(from), self.external.weight(from));
                    self.certain(from).iter().copied().for_each(&mut reach);
                }
            }
            waiting.reached(from, &reached, &mut complete);
            for number in complete.drain(..) {
                let data = snapshot.ephemerons[number as usize].data;
                if let Some(to) = data.and_then(|data| self.core_node(data.0))
                    && !cut.contains(to)
                    && reached.insert(to)
                {
                    todo.push(to);
                }
            }
        }
        left
    }

    /// A node's edges without those of ephemerons.
    fn certain(&self, node: u32) -> &[u32] {
        let all = self.core.of(node);
        if self.conditional.is_empty() {
            return all;
        }
        let start = self.conditional.partition_point(|edge| edge.node < node);
        let count = self.conditional[start..].iter().take_while(|edge| edge.node == node).count();
        &all[..all.len().saturating_sub(count)]
    }

    /// The core's node that keeps a block, unless what is gone lies between.
    fn node_left(&self, block: u32, gone: &Gone, rest: Option<&Rest>) -> Option<u32> {
        if !self.is_reachable(BlockIndex(block)) || gone.contains(block) {
            return None;
        }
        let Some(rest) = rest else { return self.core_node(block) };
        let top = match rest.tops[block as usize] {
            SHARED => block,
            top => top,
        };
        (!gone.contains(top)).then(|| self.core_node(top)).flatten()
    }

    /// What is left of the trees that have blocks of the group below their top; `None` if none has.
    fn rest(
        &self,
        snapshot: &Snapshot<'_>,
        gone: &Gone,
        threads: usize,
    ) -> Result<Option<Rest>, Error> {
        let inner = |block: u32| {
            gone.contains(block)
                && !self.heads.contains(block)
                && self.dominators[block as usize] != NONE
        };
        if !gone.any || !gone.blocks.iter().any(inner) {
            return Ok(None);
        }
        let blocks = self.dominators.len() as u32;
        let tops = self.tops(inner, threads);
        let nodes = self.core.nodes();
        let mut touched = Bits::new(nodes);
        let mut touched_heads = Bits::new(tops.len());
        let mut seen = Bits::new(tops.len());
        for block in gone.blocks.iter().filter(|block| inner(*block)) {
            // Up over other blocks of the group to the tree's top.
            let mut at = block;
            while inner(at) && seen.insert(at) {
                let above = self.dominators[at as usize];
                if above >= blocks {
                    break;
                }
                at = if tops[above as usize] == SHARED { above } else { tops[above as usize] };
            }
            if self.heads.contains(at) {
                touched.insert(self.node_of_head(at));
                touched_heads.insert(at);
            }
        }
        let mut statics = Bits::new(nodes);
        for node in self.core.of(self.holders.kind(RootKind::Static).0) {
            statics.insert(*node);
        }
        let is_touched = |block: usize| match tops[block] {
            NONE => false,
            SHARED => touched_heads.contains(block as u32),
            top => touched_heads.contains(top),
        };
        let gathered = gather(
            snapshot.sections(),
            threads,
            || (Pairs::default(), vec![Freed::default(); nodes], Columns::new()),
            |(edges, left, columns), section| {
                let first = snapshot.first_of(section).0 as usize;
                let end = snapshot.first_of(section + 1).0 as usize;
                // Most groups are in few places.
                if !(first..end).any(is_touched) {
                    return Ok(());
                }
                snapshot.decode(section, columns)?;
                let mut customs = columns.customs().peekable();
                for (place, block) in columns.iter().enumerate() {
                    let external = customs.next_if(|(at, ..)| *at == place);
                    if !is_touched(first + place) || gone.contains(block.index.0) {
                        continue;
                    }
                    let top = match tops[first + place] {
                        SHARED => block.index.0,
                        top => top,
                    };
                    let node = self.node_of_head(top);
                    left[node as usize].add(block.size().0, external.map_or(0, |found| found.2));
                    for to in block.targets {
                        if self.heads.contains(*to) {
                            let to = self.node_of_head(*to);
                            if to != node && !statics.contains(to) {
                                edges.push((node, to));
                            }
                        }
                    }
                }
                Ok::<_, Error>(())
            },
        )?;
        let mut edges = Pairs::default();
        let mut left = vec![Freed::default(); nodes];
        for (more, theirs, _) in gathered {
            edges.append(more);
            for (sum, more) in left.iter_mut().zip(theirs) {
                sum.add(more.words.0, more.external.0);
            }
        }
        // In memory there is always room.
        let edges = Csr::from_edges(&Place::Memory, nodes, &edges.iter()).unwrap_or_default();
        Ok(Some(Rest { tops, touched, edges, left }))
    }

    /// Whether a block is static data, which is never freed.
    pub(super) fn is_static(&self, block: u32) -> bool {
        let holder = self.dominators.len() as u32 + self.holders.kind(RootKind::Static).0;
        self.heads.contains(block)
            && self.via.get(self.heads.rank(block) as usize).copied() == Some(holder)
    }

    #[inline]
    pub(super) fn node_of_head(&self, head: u32) -> u32 {
        self.holders.len() as u32 + self.heads.rank(head)
    }
}
