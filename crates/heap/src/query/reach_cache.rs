//! What root nodes reach, computed once.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::heap::Heap;
use crate::graph::{ReachableSize, RootNodeId};

pub(super) type Reached = HashMap<RootNodeId, ReachableSize, FxBuildHasher>;

/// What root nodes reach, of those that were asked for.
#[derive(Debug, Default)]
pub struct ReachCache(Mutex<Reached>);

impl ReachCache {
    /// What each of these reaches.
    pub(super) fn of(
        &self,
        heap: &Heap<'_>,
        root_nodes: impl Iterator<Item = RootNodeId> + Clone,
    ) -> Reached {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<RootNodeId> = {
            let known = lock();
            root_nodes.clone().filter(|root_node| !known.contains_key(root_node)).collect()
        };
        let found = heap.graph.reach_each(&missing, heap.threads);
        let mut known = lock();
        known.extend(missing.into_iter().zip(found));
        root_nodes.map(|root_node| (root_node, known[&root_node])).collect()
    }
}
