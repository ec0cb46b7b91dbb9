//! What each of many holders reaches: up to 64 of them in one pass over the core of the graph.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::bits::Bits;
use super::{Graph, RootNodeId};
use crate::units::Words;

/// Holders of one pass: bits of a mask.
const PASS: usize = 64;

impl Graph {
    /// The size of what each of `holders` reaches, whatever else does, too; on so many threads.
    pub fn reach_each(&self, root_nodes: &[RootNodeId], threads: usize) -> Vec<Words> {
        let passes: Vec<&[RootNodeId]> = root_nodes.chunks(PASS).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(pass) = passes.get(number) else { return done };
                done.push((number, self.reach_pass(pass)));
            }
        };
        let threads = threads.min(passes.len());
        let mut done = if threads <= 1 {
            work()
        } else {
            std::thread::scope(|scope| {
                let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
                let mut done = work();
                for other in others {
                    match other.join() {
                        Ok(more) => done.extend(more),
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                done
            })
        };
        done.sort_unstable_by_key(|(number, _)| *number);
        done.into_iter().flat_map(|(_, words)| words).collect()
    }

    fn reach_pass(&self, root_nodes: &[RootNodeId]) -> Vec<Words> {
        let nodes = self.core.nodes();
        let mut masks = vec![0u64; nodes];
        let mut waiting = Bits::new(nodes);
        let mut queue = VecDeque::new();
        for (bit, root_node) in root_nodes.iter().enumerate() {
            if let Some(mask) = masks.get_mut(root_node.0 as usize)
                && (root_node.0 as usize) < self.root_nodes.len()
            {
                *mask |= 1 << bit;
                if waiting.insert(root_node.0) {
                    queue.push_back(root_node.0);
                }
            }
        }
        while let Some(from) = queue.pop_front() {
            waiting.remove(from);
            let mask = masks[from as usize];
            for to in self.core.of(from) {
                let known = &mut masks[*to as usize];
                if *known | mask != *known {
                    *known |= mask;
                    if waiting.insert(*to) {
                        queue.push_back(*to);
                    }
                }
            }
        }
        let mut words = vec![Words(0); root_nodes.len()];
        for (node, mask) in (0u32..).zip(masks) {
            let weight = if mask == 0 { 0 } else { self.weight(node) };
            if weight == 0 {
                continue;
            }
            let mut mask = mask;
            while mask != 0 {
                words[mask.trailing_zeros() as usize].0 += weight;
                mask &= mask - 1;
            }
        }
        words
    }
}
