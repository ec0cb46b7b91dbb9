//! What would be freed if a group of blocks and root nodes were gone: what can be reached without them.
//!
//! Not the sum of what they retain one by one: what several of them retain jointly is
//! freed as well.

use super::analysis::Graph;
use super::bits::Bits;
use super::column::Place;
use super::csr::{Csr, Pairs};
use super::ephemerons::Waiting;
use super::finalisers::finalisers;
use super::nodes::{CoreNodes, NO_BLOCK, RootNodeId, SHARED, SUPER_ROOT};
use super::passes::gather;
use crate::label::RootKind;
use crate::read::{Columns, Error, Snapshot};
use crate::units::{BlockIndex, Bytes, Words};

/// So many nodes are gone through to tell exactly what root nodes of ephemerons retain. With more, data
/// of ephemerons are charged to the first key alone.
const MAX_CORRECTIONS: u64 = 1 << 32;

/// What is to be gone.
#[derive(Clone, Debug)]
pub struct RemovalSet {
    blocks: Bits,
    count: u32,
    any: bool,
    root_nodes: Vec<RootNodeId>,
}

impl RemovalSet {
    /// Nothing of a snapshot.
    pub fn nothing(snapshot: &Snapshot<'_>) -> Self {
        let count = snapshot.blocks();
        Self { blocks: Bits::new(count as usize), count, any: false, root_nodes: Vec::new() }
    }

    /// A block, too.
    pub fn block(&mut self, block: BlockIndex) {
        if block.0 < self.count {
            self.any = true;
            self.blocks.insert(block.0);
        }
    }

    /// A root node and those below it, too.
    pub fn root_node(&mut self, root_node: RootNodeId) {
        self.root_nodes.push(root_node);
    }

    fn contains(&self, block: u32) -> bool {
        self.blocks.contains(block)
    }
}

/// How much would be freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreedSize {
    /// Blocks' sizes, headers counted.
    pub words: Words,
    /// Bytes outside the heap.
    pub external: Bytes,
}

impl FreedSize {
    fn add(&mut self, words: u64, external: u64) {
        self.words = Words(self.words.0 + words);
        self.external += Bytes(external);
    }
}

/// Trees of which only a part is left.
struct Rest {
    /// For each block that hangs from no node of the core by itself the nearest tree root or block that
    /// is gone; [`SHARED`] for these.
    tops: Vec<u32>,
    /// The trees' nodes.
    touched: Bits,
    /// Edges that are left of them.
    edges: Csr,
    /// For each node how much is left of its tree.
    left: Vec<FreedSize>,
}

impl Graph {
    /// What would be freed if all of `gone` were not there. Static data never is: of static blocks,
    /// the pointers go.
    ///
    /// Data of ephemerons goes with the ephemeron and with each of its keys, the function of a
    /// finaliser with its value. A value that is kept by
    /// its finaliser stays so; one that would come to be kept by it counts as freed.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn freed(
        &self,
        snapshot: &Snapshot<'_>,
        removed: &RemovalSet,
        threads: usize,
    ) -> Result<FreedSize, Error> {
        let root_nodes = self.root_nodes.len();
        let mut cut = Bits::new(self.core.nodes());
        for root_node in &removed.root_nodes {
            if (root_node.0 as usize) < root_nodes {
                cut.insert(root_node.0);
            }
        }
        for root_node in 0..root_nodes as u32 {
            let parent = self.root_parents[root_node as usize];
            if parent != NO_BLOCK && cut.contains(parent) {
                cut.insert(root_node);
            }
        }
        if removed.any {
            for (node, tree_root) in (root_nodes as u32..).zip(self.tree_roots.bits().iter()) {
                if removed.contains(tree_root) {
                    cut.insert(node);
                }
            }
        }
        let rest = self.rest(snapshot, removed, threads)?;
        let mut all = FreedSize::default();
        for node in root_nodes as u32..self.core.nodes() as u32 {
            // Of what nothing retains anyway, nothing is counted.
            if self.predecessor[node as usize - root_nodes] != NO_BLOCK {
                all.add(self.weight(node), self.external.weight(node));
            }
        }
        let left = self.left(snapshot, removed, &cut, rest.as_ref());
        let kept = self.static_words(snapshot, &cut)?;
        Ok(FreedSize {
            words: Words(all.words.0.saturating_sub(left.words.0 + kept)),
            external: Bytes(all.external.0.saturating_sub(left.external.0)),
        })
    }

    /// Words of the static blocks that cannot be reached without what is `cut`.
    fn static_words(&self, snapshot: &Snapshot<'_>, cut: &Bits) -> Result<u64, Error> {
        let root_node = self.root_nodes.kind(RootKind::Static).0;
        let all = cut.contains(SUPER_ROOT.0) || cut.contains(root_node);
        let nodes = self.core.of(root_node).iter().filter(|node| all || cut.contains(**node));
        // In a damaged snapshot a root may be below the root of static data.
        let tree_roots = nodes.filter_map(|node| {
            self.tree_roots.select(node.checked_sub(self.root_nodes.len() as u32)?)
        });
        let mut tree_roots: Vec<u32> = tree_roots.collect();
        tree_roots.sort_unstable();
        let (mut words, mut rest) = (0, &*tree_roots);
        let mut columns = Columns::new();
        while let Some(section) = rest.first().and_then(|at| snapshot.section_of(BlockIndex(*at))) {
            snapshot.decode_sizes(section, &mut columns)?;
            let end = snapshot.first_of(section + 1).0;
            let (here, behind) = rest.split_at(rest.partition_point(|at| *at < end));
            let sizes = columns.sizes().filter(|(block, _)| here.binary_search(&block.0).is_ok());
            words += sizes.map(|(_, size)| size.0).sum::<u64>();
            rest = behind;
        }
        Ok(words)
    }

    /// Where data of ephemerons hang from several root nodes, what each of these retains.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub(super) fn correct_held(
        &mut self,
        snapshot: &Snapshot<'_>,
        threads: usize,
    ) -> Result<(), Error> {
        if self.is_exact() {
            return Ok(());
        }
        let root_nodes = self.holding_ephemerons(snapshot);
        if (root_nodes.len() as u64).saturating_mul(self.core.nodes() as u64) > MAX_CORRECTIONS {
            return Ok(());
        }
        let mut removed = RemovalSet::nothing(snapshot);
        for root_node in root_nodes {
            removed.root_nodes = vec![root_node];
            let freed = self.freed(snapshot, &removed, threads)?;
            self.held[root_node.0 as usize] = freed.words.0;
            self.external.held[root_node.0 as usize] = freed.external.0;
        }
        Ok(())
    }

    /// Root nodes that retain an ephemeron with data, or a key of one.
    fn holding_ephemerons(&self, snapshot: &Snapshot<'_>) -> Vec<RootNodeId> {
        let blocks = self.dominators.len() as u32;
        let (mut seen, mut found) = (Bits::new(blocks as usize), Bits::new(self.root_nodes.len()));
        for ephemeron in snapshot.ephemerons.iter().filter(|one| one.data.is_some()) {
            for block in std::iter::once(ephemeron.block).chain(ephemeron.keys.iter().copied()) {
                let mut at = block.0;
                while at < blocks && seen.insert(at) {
                    at = self.dominators[at as usize];
                }
                let mut root_node = at.wrapping_sub(blocks);
                while (root_node as usize) < self.root_nodes.len() && found.insert(root_node) {
                    root_node = self.root_parents[root_node as usize];
                }
            }
        }
        let apart = [SUPER_ROOT, self.root_nodes.kind(RootKind::Static)];
        found.iter().map(RootNodeId).filter(|root_node| !apart.contains(root_node)).collect()
    }

    /// How much can be reached without what is `cut`.
    fn left(
        &self,
        snapshot: &Snapshot<'_>,
        removed: &RemovalSet,
        cut: &Bits,
        rest: Option<&Rest>,
    ) -> FreedSize {
        let mut left = FreedSize::default();
        let mut reached = Bits::new(self.core.nodes());
        let mut waiting = Waiting::default();
        let mut targets: Vec<u32> = Vec::new();
        if !self.conditional.is_empty() {
            let conditions =
                self.nodes_of_conditions.get_or_init(|| self.find_nodes_of_conditions(snapshot));
            for ephemeron in &snapshot.ephemerons {
                let Some(data) = ephemeron.data else { continue };
                if !self.is_reachable(data) || self.is_static(data.0) {
                    continue;
                }
                let blocks = std::iter::once(ephemeron.block).chain(ephemeron.keys.iter().copied());
                let nodes: Option<Vec<u32>> = blocks
                    .map(|block| self.node_left(block.0, removed, rest, conditions))
                    .collect();
                if let (Some(nodes), Some(data)) = (nodes, self.core_node(data.0)) {
                    waiting.add(nodes.into_iter(), targets.len() as u32, &reached);
                    targets.push(data);
                }
            }
            for finaliser in finalisers(snapshot, |block| !self.is_static(block)) {
                if let Some(value) = self.node_left(finaliser.value, removed, rest, conditions)
                    && let Some(function) = self.core_node(finaliser.function)
                {
                    waiting.add(std::iter::once(value), targets.len() as u32, &reached);
                    targets.push(function);
                }
            }
        }
        let mut todo = Vec::new();
        if !cut.contains(SUPER_ROOT.0) {
            reached.insert(SUPER_ROOT.0);
            todo.push(SUPER_ROOT.0);
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
                let to = targets[number as usize];
                if !cut.contains(to) && reached.insert(to) {
                    todo.push(to);
                }
            }
        }
        left
    }

    /// The core's nodes of ephemerons, their keys, and values with finalisers. All ways up are climbed at once: keys may be
    /// deep in a list, and each way as long as that.
    fn find_nodes_of_conditions(&self, snapshot: &Snapshot<'_>) -> CoreNodes {
        let ephemerons = snapshot.ephemerons.iter().filter(|ephemeron| ephemeron.data.is_some());
        let blocks = ephemerons.flat_map(|ephemeron| {
            std::iter::once(ephemeron.block.0).chain(ephemeron.keys.iter().map(|key| key.0))
        });
        let values = finalisers(snapshot, |block| !self.is_static(block));
        let blocks = blocks.chain(values.iter().map(|finaliser| finaliser.value));
        let tops = self.tops(|_| false, 1);
        let node = |block: u32| {
            let tree_root = match *tops.get(block as usize)? {
                SHARED => block,
                NO_BLOCK => return None,
                top => top,
            };
            self.tree_roots.contains(tree_root).then(|| (block, self.node_of_tree_root(tree_root)))
        };
        blocks.filter_map(node).collect()
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
    fn node_left(
        &self,
        block: u32,
        removed: &RemovalSet,
        rest: Option<&Rest>,
        conditions: &CoreNodes,
    ) -> Option<u32> {
        if !self.is_reachable(BlockIndex(block)) || removed.contains(block) {
            return None;
        }
        let Some(rest) = rest else {
            let known = conditions.get(&block).copied();
            return known.or_else(|| self.core_node(block));
        };
        let top = match rest.tops[block as usize] {
            SHARED => block,
            top => top,
        };
        (!removed.contains(top)).then(|| self.core_node(top)).flatten()
    }

    /// What is left of the trees that have blocks of the group below their top; `None` if none has.
    fn rest(
        &self,
        snapshot: &Snapshot<'_>,
        removed: &RemovalSet,
        threads: usize,
    ) -> Result<Option<Rest>, Error> {
        let inner = |block: u32| {
            removed.contains(block)
                && !self.tree_roots.contains(block)
                && self.dominators[block as usize] != NO_BLOCK
        };
        if !removed.any || !removed.blocks.iter().any(inner) {
            return Ok(None);
        }
        let blocks = self.dominators.len() as u32;
        let tops = self.tops(inner, threads);
        let nodes = self.core.nodes();
        let mut touched = Bits::new(nodes);
        let mut touched_heads = Bits::new(tops.len());
        let mut seen = Bits::new(tops.len());
        for block in removed.blocks.iter().filter(|block| inner(*block)) {
            // Up over other blocks of the group to the tree's top.
            let mut at = block;
            while inner(at) && seen.insert(at) {
                let parent = self.dominators[at as usize];
                if parent >= blocks {
                    break;
                }
                at = if tops[parent as usize] == SHARED { parent } else { tops[parent as usize] };
            }
            if self.tree_roots.contains(at) {
                touched.insert(self.node_of_tree_root(at));
                touched_heads.insert(at);
            }
        }
        let mut statics = Bits::new(nodes);
        for node in self.core.of(self.root_nodes.kind(RootKind::Static).0) {
            statics.insert(*node);
        }
        let is_touched = |block: usize| match tops[block] {
            NO_BLOCK => false,
            SHARED => touched_heads.contains(block as u32),
            top => touched_heads.contains(top),
        };
        let gathered = gather(
            snapshot.sections(),
            threads,
            || (Pairs::default(), vec![FreedSize::default(); nodes], Columns::new()),
            |(edges, left, columns), section| {
                let first = snapshot.first_of(section).0 as usize;
                let end = snapshot.first_of(section + 1).0 as usize;
                // Most groups are in few places.
                if !(first..end).any(is_touched) {
                    return Ok(());
                }
                snapshot.decode_edges(section, columns)?;
                let mut customs = columns.customs().peekable();
                for (place, block) in columns.iter().enumerate() {
                    let external = customs.next_if(|(at, ..)| *at == place);
                    if !is_touched(first + place) || removed.contains(block.index.0) {
                        continue;
                    }
                    let top = match tops[first + place] {
                        SHARED => block.index.0,
                        top => top,
                    };
                    let node = self.node_of_tree_root(top);
                    left[node as usize].add(block.size().0, external.map_or(0, |found| found.2));
                    for to in block.targets {
                        if self.tree_roots.contains(*to) {
                            let to = self.node_of_tree_root(*to);
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
        let mut left = vec![FreedSize::default(); nodes];
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
    pub(crate) fn is_static(&self, block: u32) -> bool {
        let root_node = self.dominators.len() as u32 + self.root_nodes.kind(RootKind::Static).0;
        self.tree_roots.contains(block)
            && self.predecessor.get(self.tree_roots.rank(block) as usize).copied()
                == Some(root_node)
    }

    #[inline]
    pub(super) fn node_of_tree_root(&self, tree_root: u32) -> u32 {
        self.root_nodes.len() as u32 + self.tree_roots.rank(tree_root)
    }
}
