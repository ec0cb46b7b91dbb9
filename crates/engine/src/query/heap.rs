//! What can be asked of heap snapshots. All of it is about one snapshot, the last if none is named;
//! sizes are bytes. A `node` is text: `all`, `kind:stack`, `label:7`, `block:123`, or
//! `group:NODE/KIND›KIND…`, the blocks of a kind below a node.

mod allocated;
mod blocks;
mod over_time;
mod roots;
mod tree;

pub use allocated::*;
pub use blocks::*;
pub use over_time::*;
pub use roots::*;
pub use tree::*;

queries! {
    /// A query about heap snapshots.
    HeapQuery {
        /// What heap snapshots there are.
        Snapshots,
        /// What was alive over time.
        Evolution,
        /// What grew from each snapshot to the next.
        HeapGrowth,
        /// Roots, by what they retain.
        HeapRoots,
        /// All that is reachable, by the root that it is attributed to.
        HeapOwners,
        /// What several roots retain jointly.
        HeapJoint,
        /// Hash tables, maps, arrays and the like.
        HeapContainers,
        /// How much there is of each kind of block.
        HeapHistogram,
        /// What a node of the dominator tree alone retains.
        HeapChildren,
        /// The dominator tree as nested boxes.
        HeapTreemap,
        /// Paths from the roots down, merged by shape.
        HeapFlame,
        /// A block with its references, and where it was allocated.
        HeapBlock,
        /// Paths from a root to blocks.
        HeapPath,
        /// What each stack frame retains.
        HeapStack,
        /// What two roots reach in common, and each alone.
        HeapShared,
        /// Strings that are there several times.
        HeapStrings,
        /// What changed between two snapshots.
        HeapDiff,
        /// The places in the program whose blocks retain most.
        HeapSamples,
        /// What retains what a function allocated.
        HeapWhy,
        /// Which calls allocated what a root owns, or the blocks of a type or kind.
        HeapWho,
        /// What was alive in one snapshot and is in a later one, by what allocated it.
        HeapSurvivors,
        /// Blocks by kind, type, size, owner, age and what they retain.
        HeapBlocks,
        /// Which owners grow, and why.
        HeapLeaks,
    }
}
