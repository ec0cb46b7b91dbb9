//! What the writer is given: the memory, roots and tables of a heap that does not change.

use crate::facts::Facts;
use crate::label::{Labels, Strength};
use crate::space::Space;
use crate::units::LabelId;

/// A heap that is paused.
#[derive(Debug)]
pub struct Source<'a> {
    /// All memory that blocks are in: in any order, without overlap.
    pub regions: Vec<Region<'a>>,
    /// The roots' labels.
    pub labels: Labels,
    /// All roots.
    pub roots: Vec<Root>,
    /// Values of all ephemerons and weak arrays on the runtime's lists.
    pub ephemerons: Vec<u64>,
    /// The value of a key or data that is not set (`caml_ephe_none`).
    pub ephe_none: u64,
    /// Blocks that the allocation trace knows.
    pub samples: Vec<Sample>,
    /// The process and the moment.
    pub facts: Facts,
    /// How this runtime lays out blocks.
    pub runtime: HeapRuntime,
    /// Whether the contents of strings go into the file.
    pub contents: bool,
}

/// How a runtime lays out blocks.
#[derive(Clone, Copy, Debug)]
pub struct HeapRuntime {
    /// High bits of headers that are not part of the size.
    pub reserved_header_bits: u32,
    /// How closures look.
    pub closures: ClosureFormat,
    /// Whether blocks with tag 245 are continuations (OCaml 5).
    pub continuations: bool,
}

/// How closures look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosureFormat {
    /// Code pointer and arity, then values (4.11).
    Plain,
    /// The second word says where the values start (4.12 on).
    WithInfo,
}

/// A piece of memory.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    /// Address of the first word, a multiple of eight.
    pub start: u64,
    /// The memory.
    pub words: &'a [u64],
    /// What it belongs to.
    pub space: Space,
    /// Where blocks are in it.
    pub layout: Layout,
}

/// Where blocks are in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// End to end from the first word. Blocks of `free_colour` are free space.
    Linear {
        /// Bits 8 and 9 of the headers of free blocks.
        free_colour: Option<u8>,
    },
    /// In slots of `slot` words, from word `first` on; a header of 0 is a free slot.
    Slots {
        /// Words before the first slot.
        first: u32,
        /// Words of a slot.
        slot: u32,
    },
    /// Only where something points to.
    Reached,
}

/// Something outside the heap that holds a value.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// What it holds; what is no block is left out and counted.
    pub value: u64,
    /// Where it stands, 0 for nowhere. A root within a static block stands for that block's field.
    pub slot: u64,
    /// What it is.
    pub label: LabelId,
    /// How it holds.
    pub strength: Strength,
}

/// A live block that the allocation trace knows.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its address (of the first field).
    pub block: u64,
    /// The id of its allocation in the trace.
    pub id: u64,
    /// How many samples it counts.
    pub samples: u64,
}
