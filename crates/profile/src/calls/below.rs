//! Which backtraces have a fragment of a call path.

use memtrail_trace::StackId;

use super::entities::{Entity, NO_ENTITY};
use super::level::Level;
use super::view::View;
use crate::sites::By;

/// The backtraces on whose paths a focus is.
#[derive(Clone, Debug)]
pub struct Below<'a> {
    starts: Vec<u32>,
    leaf_of_stack: &'a [u32],
}

/// The backtraces of a selection that have a focus; all if it is empty.
pub fn below<'a>(view: View<'a>, focus: &[Entity]) -> Below<'a> {
    let focus: Vec<u32> = match focus {
        [] => vec![Entity::TOPLEVEL.0],
        _ => focus.iter().map(|entity| entity.0).collect(),
    };
    Below { starts: starts(view, &focus), leaf_of_stack: view.tree.leaf_of_stack() }
}

impl Below<'_> {
    /// Whether a backtrace is one of them.
    pub fn has(&self, stack: StackId) -> bool {
        let leaf = self.leaf_of_stack.get(stack.0 as usize);
        leaf.is_some_and(|&leaf| self.starts[leaf as usize] != NO_ENTITY)
    }
}

/// By node, the node at which the focus ends on the path to it, or [`NO_ENTITY`].
pub(super) fn starts(view: View<'_>, focus: &[u32]) -> Vec<u32> {
    let at_end = focus.last() == Some(&Entity::ALLOCATIONS.0);
    let mut starts = vec![NO_ENTITY; view.tree.len()];
    for found in Level::new(view, By::Function).matches(focus) {
        let end = if at_end { found.node + 1 } else { view.tree.end(found.node) };
        starts[found.node as usize..end as usize].fill(found.node);
    }
    starts
}
