//! The core of the graph: holders and shared blocks, each of which stands for the whole tree of
//! blocks with a single parent that hangs from it.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::bits::{Bits, Ranked};
use super::column::Place;
use super::csr::Csr;
use super::ephemerons::Waiting;
use super::exits::Exits;
use super::nodes::{EVERYTHING, Holders};
use super::{NONE, SHARED};
use crate::label::RootKind;
use crate::read::{Snapshot, Strength};

/// Numbers of the core's nodes: holders first, then heads in the order of blocks.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) holders: Holders,
    pub(crate) heads: Ranked,
}

impl Numbers {
    #[inline]
    pub(crate) fn of_head(&self, block: u32) -> u32 {
        self.holders.len() as u32 + self.heads.rank(block)
    }

    /// The head that a node of the core is; holders are none.
    pub(crate) fn head(&self, node: u32) -> Option<u32> {
        self.heads.select(node.checked_sub(self.holders.len() as u32)?)
    }

    pub(crate) fn is_holder(&self, node: u32) -> bool {
        (node as usize) < self.holders.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.holders.len() + self.heads.len()
    }
}

/// The core's graph: `more` are edges besides those of holders and blocks, and come last.
///
/// # Errors
/// If there is no room for it.
pub(crate) fn graph(
    place: &Place,
    snapshot: &Snapshot<'_>,
    numbers: &Numbers,
    exits: &Exits,
    statics: &Bits,
    more: &[(u32, u32)],
) -> io::Result<Csr> {
    let holders = &numbers.holders;
    let last = place.column(numbers.len(), || AtomicU32::new(NONE))?;
    Csr::new(place, numbers.len(), |edge| {
        for holder in (0..holders.len() as u32).map(super::HolderId) {
            if let Some(above) = holders.parent(holder, &snapshot.labels) {
                edge(above.0, holder.0);
            }
        }
        let permanent = holders.kind(RootKind::Static).0;
        for block in statics.iter() {
            edge(permanent, numbers.of_head(block));
        }
        for root in &snapshot.roots {
            if root.strength == Strength::Strong && !statics.contains(root.block.0) {
                edge(holders.label(root.label).0, numbers.of_head(root.block.0));
            }
        }
        // Neighbours tend to point to the same blocks: an edge is left out if the last one to the
        // same block was from the same head.
        for last in last.iter() {
            last.store(NONE, Ordering::Relaxed);
        }
        exits.each_of_all(|exit| {
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
/// keys are there, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conditional {
    /// The key; the ephemeron, if it has none that can be freed.
    pub(crate) from: u32,
    /// The core's node whose tree that is in.
    pub(crate) node: u32,
    /// The node of the data.
    pub(crate) to: u32,
}

/// Edges that count only because of what else is reached.
#[derive(Debug, Default)]
pub(crate) struct More {
    /// From finalisers to values that nothing else keeps.
    pub(crate) finalisers: Vec<(u32, u32)>,
    /// From keys to data.
    pub(crate) conditional: Vec<Conditional>,
}

/// Looks for the edges that count only under conditions.
///
/// The data of an ephemeron lives while the ephemeron and all its keys do; a value with a finaliser
/// is kept by that if nothing else keeps it.
pub(crate) fn more(
    snapshot: &Snapshot<'_>,
    numbers: &Numbers,
    heads: &[u32],
    statics: &Bits,
    graph: &Csr,
) -> More {
    let node = |block: u32| match heads[block as usize] {
        SHARED => Some(numbers.of_head(block)),
        NONE => None,
        head => Some(numbers.of_head(head)),
    };
    let mut more = More::default();
    let mut reached = Bits::new(graph.nodes());
    let mut todo = vec![EVERYTHING.0];
    reached.insert(EVERYTHING.0);
    let mut waiting = Waiting::default();
    // None is complete before anything but the root is reached.
    for (number, ephemeron) in (0..).zip(&snapshot.ephemerons) {
        if ephemeron.data.is_none_or(|data| statics.contains(data.0)) {
            continue;
        }
        let blocks = std::iter::once(ephemeron.block).chain(ephemeron.keys.iter().copied());
        // One of which a part hangs from nothing never has its data.
        if blocks.clone().all(|block| node(block.0).is_some()) {
            waiting.add(blocks.filter_map(|block| node(block.0)), number, &reached);
        }
    }
    let mut complete = Vec::new();
    let mut finalisers = true;
    loop {
        while let Some(from) = todo.pop() {
            waiting.reached(from, &reached, &mut complete);
            for number in complete.drain(..) {
                let ephemeron = &snapshot.ephemerons[number as usize];
                // The key keeps the data; static keys are never freed, so then the ephemeron does.
                let key =
                    ephemeron.keys.iter().map(|key| key.0).find(|key| !statics.contains(*key));
                let from = key.unwrap_or(ephemeron.block.0);
                if let (Some(data), Some(node)) = (ephemeron.data, node(from)) {
                    let to = numbers.of_head(data.0);
                    more.conditional.push(Conditional { from, node, to });
                    if reached.insert(to) {
                        todo.push(to);
                    }
                }
            }
            for to in graph.of(from) {
                if reached.insert(*to) {
                    todo.push(*to);
                }
            }
        }
        if !std::mem::take(&mut finalisers) {
            more.conditional.sort_unstable_by_key(|edge| (edge.node, edge.to, edge.from));
            return more;
        }
        // All at once: of values that keep each other, each has its own finaliser.
        let values = snapshot
            .roots
            .iter()
            .filter(|root| root.strength == Strength::Finaliser && !statics.contains(root.block.0));
        more.finalisers = values
            .map(|root| (numbers.holders.label(root.label).0, numbers.of_head(root.block.0)))
            .filter(|(_, to)| !reached.contains(*to))
            .collect();
        for (_, to) in &more.finalisers {
            if reached.insert(*to) {
                todo.push(*to);
            }
        }
    }
}
