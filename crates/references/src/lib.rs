//! What refers to a program's blocks from `malloc`, found by a conservative scan of a frozen copy of it.
//!
//! A word of memory that is an address inside a block counts as a pointer to it. Nodes are sampled blocks, and blocks of
//! the allocator that were not sampled and refer to others. References that are not in blocks are roots ([`Place`]).
//! The agent writes them ([`References::to_bytes`]); [`Reachability`] tells which blocks are reachable, and by which path.
//!
//! Invariants: readers take bytes and never panic; numbers of nodes, modules and edges that were read are in range.
#![forbid(unsafe_code)]

pub mod fuzz;
mod reachable;
mod read;
mod write;

use memtrail_trace::BlockId;

pub use reachable::{Path, Reachability, State, Step};
pub use read::Error;

/// How the file begins.
const MAGIC: [u8; 8] = *b"mtrefs\0\0";
/// The version of the format that is written. Version 1 had no positions of variables, version 2 no OCaml heap, version 3 no
/// system calls.
const VERSION: u64 = 4;
/// The oldest version that can be read.
const OLDEST: u64 = 1;

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

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

/// The number of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Module(pub u32);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A thread's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread(pub u32);

/// The number of a block of OCaml's heap, in the heap snapshot that was taken of the same copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeapBlock(pub u32);

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What the trace calls it; nothing if it was not sampled.
    pub sampled: Option<BlockId>,
    /// Its size.
    pub size: Bytes,
}

/// A pointer in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block that it is in.
    pub from: Node,
    /// Where in that block it is.
    pub at: Bytes,
    /// What it refers to.
    pub to: Node,
}

/// Where a root is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a variable of the program or of a library.
    Data {
        /// The file that it is in.
        module: Module,
        /// Its address in that file.
        address: u64,
        /// What is there, as far as symbol tables have it.
        variable: Option<Variable>,
    },
    /// On the stack of a thread.
    Stack(Thread),
    /// In a thread-local variable, or in what libc has of the thread.
    ThreadLocal(Thread),
    /// An argument of the system call in which a thread waits.
    SystemCall(Thread),
    /// In a block of OCaml's heap.
    Heap {
        /// The block.
        block: HeapBlock,
        /// Where in that block it is.
        at: Bytes,
        /// Nothing retains the block. Only the heap snapshot tells, so files do not have it.
        is_garbage: bool,
    },
    /// In memory of which is not known whether it is in use: it is not the allocator's, and no variable.
    Elsewhere,
}

/// A variable that a pointer is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, and where in it the pointer is: `table+0x18`.
    pub name: String,
    /// Where it is defined, as far as debug information has it: `server.c:14`.
    pub position: Option<String>,
}

/// A reference that is in no block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Where it is.
    pub place: Place,
    /// What it refers to.
    pub to: Node,
}

/// What was found in a frozen copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// When the copy was made, in microseconds since the Unix epoch.
    pub taken_unix_us: u64,
    /// Paths of the executable and of libraries with variables that refer to blocks.
    pub modules: Vec<String>,
    /// All blocks.
    pub blocks: Vec<Block>,
    /// References between blocks, in the order of the blocks that they are in.
    pub edges: Vec<Edge>,
    /// All other references.
    pub roots: Vec<Root>,
}
