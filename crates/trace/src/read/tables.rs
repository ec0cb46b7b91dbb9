//! What grows while a trace is read, shared by all domains.

use crate::locations::Locations;
use crate::tree::StackTree;

/// The call sites and the backtraces met so far.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// What stands at each code.
    pub locations: Locations,
    /// The tree of backtraces; only the root unless [`Detail::Stacks`](crate::Detail::Stacks).
    pub stacks: StackTree,
}
