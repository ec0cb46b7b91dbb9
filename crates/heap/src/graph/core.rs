//! The core of the graph: holders and shared blocks, each of which stands for the whole tree of
//! blocks with a single parent that hangs from it.

use super::bits::{Bits, Ranked};
use super::csr::{Csr, Pairs};
use super::nodes::{EVERYTHING, Holders};
use super::sweep::sweep;
use super::{NONE, SHARED};
use crate::label::RootKind;
use crate::read::{Columns, Error, Snapshot, Strength};

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

/// Hands out a section's edges to shared blocks: from block, its head, to block.
#[inline]
pub(crate) fn shared_edges(
    columns: &Columns,
    heads: &[u32],
    statics: &Bits,
    mut each: impl FnMut(u32, u32, u32),
) {
    for block in columns.iter() {
        let from = block.index.0;
        let head = match heads[from as usize] {
            SHARED => from,
            NONE => continue,
            head => head,
        };
        for to in block.targets {
            if heads[*to as usize] == SHARED && *to != from && !statics.contains(*to) {
                each(from, head, *to);
            }
        }
    }
}

/// The core's edges, and the size of the tree that hangs from each head, itself counted. `heads` has
/// for each block the head that it hangs from.
pub(crate) fn edges(
    snapshot: &Snapshot<'_>,
    numbers: &Numbers,
    heads: &[u32],
    statics: &Bits,
    threads: usize,
) -> Result<(Pairs, Vec<u64>), Error> {
    let holders = &numbers.holders;
    let mut edges = Pairs::default();
    for holder in (0..holders.len() as u32).map(super::HolderId) {
        if let Some(above) = holders.parent(holder, &snapshot.labels) {
            edges.push((above.0, holder.0));
        }
    }
    let permanent = holders.kind(RootKind::Static).0;
    for block in statics.iter() {
        edges.push((permanent, numbers.of_head(block)));
    }
    for root in &snapshot.roots {
        if root.strength == Strength::Strong && !statics.contains(root.block.0) {
            edges.push((holders.label(root.label).0, numbers.of_head(root.block.0)));
        }
    }
    // Neighbours tend to point to the same blocks: an edge is left out if the last one to the same
    // block was from the same head.
    let gathered = sweep(
        snapshot,
        threads,
        || (Pairs::default(), vec![NONE; numbers.heads.len()], vec![0u64; numbers.heads.len()]),
        |(edges, last, weights), _, columns| {
            for block in columns.iter() {
                let head = match heads[block.index.0 as usize] {
                    SHARED => block.index.0,
                    head => head,
                };
                if head != NONE {
                    weights[numbers.heads.rank(head) as usize] += block.size().0;
                }
            }
            shared_edges(columns, heads, statics, |_, head, to| {
                let last = &mut last[numbers.heads.rank(to) as usize];
                if head != to && *last != head {
                    *last = head;
                    edges.push((numbers.of_head(head), numbers.of_head(to)));
                }
            });
        },
    )?;
    let mut weights: Vec<u64> = Vec::new();
    for (some, _, theirs) in gathered {
        edges.append(some);
        if weights.is_empty() {
            weights = theirs;
            continue;
        }
        for (weight, theirs) in weights.iter_mut().zip(theirs) {
            *weight += theirs;
        }
    }
    Ok((edges, weights))
}

/// What the core's root reaches, with edges that count only under conditions.
///
/// The data of an ephemeron lives while the ephemeron and all its keys do; a value with a finaliser
/// is kept by that if nothing else keeps it. Each such edge that counts is handed out: as (block or
/// [`NONE`] for a holder, node of the core, head).
pub(crate) fn conditional(
    snapshot: &Snapshot<'_>,
    numbers: &Numbers,
    heads: &[u32],
    statics: &Bits,
    graph: &Csr,
) -> Vec<(u32, u32, u32)> {
    let node = |block: u32| match heads[block as usize] {
        SHARED => Some(numbers.of_head(block)),
        NONE => None,
        head => Some(numbers.of_head(head)),
    };
    let mut found = Vec::new();
    let mut reached = Bits::new(graph.nodes());
    let mut todo = vec![EVERYTHING.0];
    reached.insert(EVERYTHING.0);
    let mut waiting: Vec<_> = snapshot
        .ephemerons
        .iter()
        .filter(|ephemeron| ephemeron.data.is_some_and(|data| !statics.contains(data.0)))
        .collect();
    let mut finalisers = true;
    loop {
        while let Some(from) = todo.pop() {
            for to in graph.of(from) {
                if reached.insert(*to) {
                    todo.push(*to);
                }
            }
        }
        let lives =
            |block: u32, reached: &Bits| node(block).is_some_and(|node| reached.contains(node));
        waiting.retain(|ephemeron| {
            let complete = lives(ephemeron.block.0, &reached)
                && ephemeron.keys.iter().all(|key| lives(key.0, &reached));
            if let (true, Some(data)) = (complete, ephemeron.data) {
                // The key keeps the data; static keys are never freed, so then the ephemeron does.
                let key =
                    ephemeron.keys.iter().map(|key| key.0).find(|key| !statics.contains(*key));
                let from = key.unwrap_or(ephemeron.block.0);
                let to = numbers.of_head(data.0);
                if let Some(head) = node(from) {
                    found.push((from, head, to));
                    if reached.insert(to) {
                        todo.push(to);
                    }
                }
            }
            !complete
        });
        if todo.is_empty() && finalisers {
            finalisers = false;
            let values = snapshot.roots.iter().filter(|root| {
                root.strength == Strength::Finaliser && !statics.contains(root.block.0)
            });
            // All at once: of values that keep each other, each has its own finaliser.
            let values: Vec<_> = values
                .map(|root| (numbers.holders.label(root.label).0, numbers.of_head(root.block.0)))
                .filter(|(_, to)| !reached.contains(*to))
                .collect();
            for (from, to) in values {
                found.push((NONE, from, to));
                if reached.insert(to) {
                    todo.push(to);
                }
            }
        }
        if todo.is_empty() {
            return found;
        }
    }
}
