//! The core of the graph: root nodes and shared blocks, each of which stands for the whole tree of
//! blocks with a single parent that hangs from it.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::bits::Bits;
use super::column::Place;
use super::cross_edges::CrossEdges;
use super::csr::Csr;
use super::ephemerons::Waiting;
use super::finalisers::{Finaliser, Link, circular};
use super::nodes::{NO_BLOCK, RootNodeId, SHARED, SUPER_ROOT};
use super::numbering::Numbers;
use crate::label::{RootKind, Strength};
use crate::read::Snapshot;

/// What the core is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'p, 'a> {
    pub(crate) snapshot: &'p Snapshot<'a>,
    pub(crate) numbers: &'p Numbers,
    /// Static data.
    pub(crate) statics: &'p Bits,
}

/// The core's graph without the functions of `finalisers`: `more` are edges besides those of root nodes
/// and blocks, and come last.
///
/// # Errors
/// If there is no room for it.
pub(crate) fn graph(
    place: &Place,
    parts: &Parts<'_, '_>,
    cross_edges: &CrossEdges,
    finalisers: &[Finaliser],
    more: &[(u32, u32)],
) -> io::Result<Csr> {
    let Parts { snapshot, numbers, statics } = *parts;
    let root_nodes = &numbers.root_nodes;
    let last = place.column(numbers.len(), || AtomicU32::new(NO_BLOCK))?;
    Csr::new(place, numbers.len(), |edge| {
        for root_node in (0..root_nodes.len() as u32).map(RootNodeId) {
            if let Some(parent) = root_nodes.parent(root_node, &snapshot.labels) {
                edge(parent.0, root_node.0);
            }
        }
        let permanent = root_nodes.kind(RootKind::Static).0;
        for block in statics.iter() {
            edge(permanent, numbers.of_tree_root(block));
        }
        let mut functions = finalisers.iter().map(|finaliser| finaliser.root).peekable();
        for (place, root) in snapshot.roots.iter().enumerate() {
            if functions.next_if_eq(&place).is_some() {
                continue;
            }
            if root.strength == Strength::Strong && !statics.contains(root.block.0) {
                edge(root_nodes.label(root.label).0, numbers.of_tree_root(root.block.0));
            }
        }
        // Neighbours tend to point to the same blocks: an edge is left out if the last one to the
        // same block was from the same tree root.
        for last in last.iter() {
            last.store(NO_BLOCK, Ordering::Relaxed);
        }
        cross_edges.each_of_all(|exit| {
            let last = &last[exit.to as usize];
            if exit.node != exit.to && last.load(Ordering::Relaxed) != exit.node {
                last.store(exit.node, Ordering::Relaxed);
                edge(exit.node, exit.to);
            }
        });
        for (from, to) in more {
            edge(*from, *to);
        }
    })
}

/// An edge from an ephemeron's key to its data, which counts only while the ephemeron and its other
/// keys are there, too; or from a value to its finaliser's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conditional {
    /// The key; the ephemeron, if it has none that can be freed.
    pub(crate) from: u32,
    /// The core's node whose tree that is in.
    pub(crate) node: u32,
    /// The node of the data.
    pub(crate) to: u32,
    pub(crate) why: Why,
}

/// What an edge stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    Ephemeron = 0,
    Finaliser = 1,
}

/// Edges that count only because of what else is reached.
#[derive(Debug, Default)]
pub(crate) struct ConditionalEdges {
    /// From finalisers to values that nothing else keeps, and to functions that no value does.
    pub(crate) finalisers: Vec<(u32, u32)>,
    /// From keys to data, and from values to functions.
    pub(crate) conditional: Vec<Conditional>,
}

/// Looks for the edges that count only under conditions.
///
/// The data of an ephemeron lives while the ephemeron and all its keys do, the function of a finaliser
/// while its value does. A value with a finaliser is kept by that if nothing else keeps it.
pub(crate) fn more(
    parts: &Parts<'_, '_>,
    tree_roots: &[u32],
    graph: &Csr,
    finalisers: &[Finaliser],
) -> ConditionalEdges {
    let mut search = Search::new(parts, tree_roots, graph, finalisers);
    search.reach();
    search.circles();
    let values = search.dying(false);
    search.keep(values);
    let functions = search.dying(true);
    search.keep(functions);
    let mut more = search.more;
    more.conditional.sort_unstable_by_key(|edge| (edge.node, edge.to, edge.from));
    more
}

/// What is reached so far, and what waits for more.
struct Search<'s, 'a> {
    parts: &'s Parts<'s, 'a>,
    tree_roots: &'s [u32],
    graph: &'s Csr,
    finalisers: &'s [Finaliser],
    reached: Bits,
    todo: Vec<u32>,
    /// Ephemerons by number, finalisers behind them.
    waiting: Waiting,
    more: ConditionalEdges,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(
        parts: &'s Parts<'s, 'a>,
        tree_roots: &'s [u32],
        graph: &'s Csr,
        finalisers: &'s [Finaliser],
    ) -> Self {
        let reached = Bits::new(graph.nodes());
        let (waiting, more) = (Waiting::default(), ConditionalEdges::default());
        let todo = Vec::new();
        let mut search =
            Self { parts, tree_roots, graph, finalisers, reached, todo, waiting, more };
        // None is complete before anything but the root is reached.
        search.visit(SUPER_ROOT.0);
        let ephemerons = &parts.snapshot.ephemerons;
        for (number, ephemeron) in (0..).zip(ephemerons) {
            if ephemeron.data.is_none_or(|data| parts.statics.contains(data.0)) {
                continue;
            }
            let blocks = std::iter::once(ephemeron.block).chain(ephemeron.keys.iter().copied());
            // One of which a part hangs from nothing never has its data.
            let nodes: Option<Vec<u32>> = blocks.map(|block| search.node(block.0)).collect();
            if let Some(nodes) = nodes {
                search.waiting.add(nodes.into_iter(), number, &search.reached);
            }
        }
        for (number, finaliser) in (ephemerons.len() as u32..).zip(finalisers) {
            if let Some(node) = search.node(finaliser.value) {
                search.waiting.add(std::iter::once(node), number, &search.reached);
            }
        }
        search
    }

    /// The core's node whose tree a block is in.
    fn node(&self, block: u32) -> Option<u32> {
        match self.tree_roots[block as usize] {
            SHARED => Some(self.parts.numbers.of_tree_root(block)),
            NO_BLOCK => None,
            tree_root => Some(self.parts.numbers.of_tree_root(tree_root)),
        }
    }

    fn visit(&mut self, node: u32) {
        if self.reached.insert(node) {
            self.todo.push(node);
        }
    }

    /// The edge of an ephemeron or finaliser of which all conditions are met.
    fn edge(&self, number: u32) -> Option<Conditional> {
        let ephemerons = &self.parts.snapshot.ephemerons;
        let (from, to, why) = if let Some(ephemeron) = ephemerons.get(number as usize) {
            // The key keeps the data; static keys are never freed, so then the ephemeron does.
            let mut keys = ephemeron.keys.iter().map(|key| key.0);
            let key = keys.find(|key| !self.parts.statics.contains(*key));
            (key.unwrap_or(ephemeron.block.0), ephemeron.data?.0, Why::Ephemeron)
        } else {
            let finaliser = self.finalisers.get(number as usize - ephemerons.len())?;
            (finaliser.value, finaliser.function, Why::Finaliser)
        };
        Some(Conditional {
            from,
            node: self.node(from)?,
            to: self.parts.numbers.of_tree_root(to),
            why,
        })
    }

    /// Goes on until there is nothing more to reach.
    fn reach(&mut self) {
        let mut complete = Vec::new();
        while let Some(from) = self.todo.pop() {
            self.waiting.reached(from, &self.reached, &mut complete);
            for edge in
                complete.drain(..).filter_map(|number| self.edge(number)).collect::<Vec<_>>()
            {
                self.more.conditional.push(edge);
                self.visit(edge.to);
            }
            for to in self.graph.of(from) {
                self.visit(*to);
            }
        }
    }

    /// Functions that keep their values from dying are kept for good.
    fn circles(&mut self) {
        let links: Vec<Link> = self
            .finalisers
            .iter()
            .filter_map(|finaliser| {
                let value = self.node(finaliser.value)?;
                Some((value, self.parts.numbers.of_tree_root(finaliser.function)))
            })
            .collect();
        if links.is_empty() {
            return;
        }
        let data = self.more.conditional.iter().filter(|edge| edge.why == Why::Ephemeron);
        let data: Vec<Link> = data.map(|edge| (edge.node, edge.to)).collect();
        let circular = circular(self.graph, &links, &data);
        let with_node =
            self.finalisers.iter().filter(|finaliser| self.node(finaliser.value).is_some());
        let kept = with_node
            .zip(circular)
            .filter(|(_, circular)| *circular)
            .map(|(finaliser, _)| self.of_finaliser(finaliser, finaliser.function))
            .collect();
        self.keep(kept);
    }

    /// Edges to what finalisers keep that are about to run: all that have one of these kinds of
    /// function. Of values that keep each other, each has its own finaliser.
    fn dying(&self, is_last: bool) -> Vec<(u32, u32)> {
        // The collector keeps the functions of all others, too.
        let mut reached = self.reached.clone();
        let mut waiting = self.waiting.clone();
        let functions = self.finalisers.iter().map(|finaliser| finaliser.function);
        let mut todo: Vec<u32> =
            functions.map(|block| self.parts.numbers.of_tree_root(block)).collect();
        todo.retain(|node| reached.insert(*node));
        let mut complete = Vec::new();
        while let Some(from) = todo.pop() {
            waiting.reached(from, &reached, &mut complete);
            let data = complete.drain(..).filter_map(|number| self.edge(number));
            let data: Vec<u32> = data.map(|edge| edge.to).collect();
            for to in data.into_iter().chain(self.graph.of(from).iter().copied()) {
                if reached.insert(to) {
                    todo.push(to);
                }
            }
        }
        let is_dead = |block| self.node(block).is_none_or(|node| !reached.contains(node));
        let paired = self
            .finalisers
            .iter()
            .filter(|finaliser| finaliser.is_last == is_last && is_dead(finaliser.value))
            .map(|finaliser| {
                let what = if is_last { finaliser.function } else { finaliser.value };
                self.of_finaliser(finaliser, what)
            });
        // Values whose function is static, which therefore waits for nothing.
        let functions: Vec<usize> =
            self.finalisers.iter().map(|finaliser| finaliser.root + 1).collect();
        let snapshot = self.parts.snapshot;
        let alone = snapshot.roots.iter().enumerate().filter(|(place, root)| {
            !is_last
                && root.strength == Strength::Finaliser
                && !self.parts.statics.contains(root.block.0)
                && functions.binary_search(place).is_err()
                && is_dead(root.block.0)
        });
        let numbers = self.parts.numbers;
        let alone = alone.map(|(_, root)| {
            (numbers.root_nodes.label(root.label).0, numbers.of_tree_root(root.block.0))
        });
        paired.chain(alone).collect()
    }

    fn of_finaliser(&self, finaliser: &Finaliser, block: u32) -> (u32, u32) {
        let numbers = self.parts.numbers;
        (numbers.root_nodes.label(finaliser.label).0, numbers.of_tree_root(block))
    }

    /// Adds edges from finalisers, and goes on from there.
    fn keep(&mut self, edges: Vec<(u32, u32)>) {
        for (_, to) in &edges {
            self.visit(*to);
        }
        self.more.finalisers.extend(edges);
        self.reach();
    }
}
