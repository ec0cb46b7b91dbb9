//! What refers to a program's blocks from `malloc`, found by a conservative scan of a frozen copy of it.
//!
//! A word of memory that is an address inside a block counts as a pointer to it. Nodes are sampled blocks, and blocks of
//! the allocator that were not sampled and refer to others. References that are not in blocks are roots ([`Place`]).
//! The agent writes them ([`References::to_bytes`]); [`Reachability`] tells which blocks are reachable, and by which path.
//!
//! Invariants: readers take bytes and never panic; numbers of nodes, modules and edges that were read are in range.
#![forbid(unsafe_code)]

mod format;
pub mod fuzz;
mod graph;
mod reachable;
mod read;
mod write;

pub use graph::{
    Block, Bytes, Edge, HeapBlock, Module, Node, Place, References, Root, Thread, Variable,
};
pub use reachable::{Path, Reachability, State, Step};
pub use read::Error;

/// How the names of such files end.
const SUFFIX: &str = ".references";

/// The name of a file inside a recording.
pub fn file_name(number: u64) -> String {
    format!("{number:04}{SUFFIX}")
}

/// The number of a file, by its name.
pub fn number_of_file(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}
