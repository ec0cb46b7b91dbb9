//! What retains what: the dominators of every block, and the size of what each retains.
//!
//! A block *dominates* another if every way from a root to that one leads through it: the
//! other is freed without it. What a block dominates is what would be freed with it: its *retained* size.
//!
//! # How
//!
//! Heaps of OCaml programs are mostly trees: nine blocks of ten are pointed to by one other, which
//! thereby dominates them. So
//! 1. for each block the only one that points to it is found, or that there are several ([`parents`]);
//! 2. each tree of blocks with a single parent is folded into the shared block at its top, and the
//!    edges to shared blocks are gathered ([`cross_edges`]): a graph a tenth in size ([`mod@core`]);
//! 3. its dominators are computed ([`semi_nca`]);
//! 4. they are carried back to the blocks of the trees ([`refine`], [`meet`]);
//! 5. sizes are summed up from below ([`retained`]), in the heap and outside ([`external`]).
//!
//! Beside that, each block is attributed to one root ([`owners`]). What has to be removed to free a block that several
//! roots reach is found when a query asks for it ([`min_cut`]).
//!
//! All of it is exact. None of it recurses. The snapshot is decoded three times. What has a number
//! for each block or shared block is a column, which may be in a file ([`mod@column`]): so heaps
//! larger than memory take the same way, with the same result.
//!
//! # What counts
//!
//! - Above the blocks stand the *root nodes*: one above all, one for each kind of root, one for each
//!   label, in the tree that the labels form. So a thread, a frame and a slot of it each have their
//!   retained size.
//! - Static data is never freed: nothing but its root node dominates it.
//! - Keys of ephemerons and elements of weak arrays are not kept. The data of an ephemeron lives
//!   while the ephemeron and all its keys do, and is charged to the key (to the first, of several).
//!   That is exact for what would be freed with that key; what would be freed with another key or
//!   the ephemeron is not told here, as a tree cannot hold several. [`Graph::freed`] counts it. What
//!   root nodes retain is corrected for it.
//! - A value with a `Gc.finalise` is charged to the finaliser if nothing else keeps it. The function
//!   is charged to the value ([`finalisers`]).

mod analysis;
pub(crate) mod bits;
mod build;
pub(crate) mod chunk_buffer;
mod climb;
pub(crate) mod column;
mod core;
mod cross_edges;
mod csr;
mod cycles;
mod disjoint;
mod ephemerons;
mod error;
mod external;
mod finalisers;
mod freed;
mod globals;
pub(crate) mod index;
mod label_order;
mod meet;
mod min_cut;
mod nodes;
pub(crate) mod number;
mod numbering;
mod owners;
mod packed;
mod parents;
pub(crate) mod passes;
mod reach;
mod references;
mod refine;
mod retained;
mod semi_nca;
mod sharing;
mod weights;

pub use analysis::Graph;
pub use climb::Owners;
#[cfg(feature = "mmap")]
pub use column::WatchedSnapshot;
pub use column::{Column, Place};
pub use error::Failed;
pub use freed::{FreedSize, RemovalSet};
pub use min_cut::CutEdge;
pub(crate) use min_cut::Upwards;
pub use nodes::{Node, RootNode, RootNodeId, RootNodes, SUPER_ROOT};
pub use owners::OwnersOfBlocks;
pub use reach::{ReachableSize, Reached};
