//! The writer: walks a heap that stands still, and writes it as it goes.
//!
//! It is made to run inside a frozen copy of the target: one thread, no `unsafe`, memory of its
//! own of about a sixtieth of the heap. What it walks is handed in as slices; what only the
//! runtime knows is asked through [`Details`].

mod blocks;
mod emit;
mod find;
mod heads;
pub(crate) mod sections;
pub(crate) mod tables;

use std::io::{self, Write};

pub use crate::facts::{Facts, Reason};
pub use crate::label::{Labels, Part, RootKind};
pub use crate::units::LabelId;

/// A heap that stands still.
#[derive(Debug)]
pub struct Source<'a> {
    /// All memory that blocks stand in: in any order, without overlap.
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
    pub runtime: Runtime,
    /// Whether the contents of strings go into the file.
    pub contents: bool,
}

/// How a runtime lays out blocks.
#[derive(Clone, Copy, Debug)]
pub struct Runtime {
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

/// What a piece of memory belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Space {
    /// The major heap.
    Major = 0,
    /// A minor heap.
    Minor = 1,
    /// The program's data.
    Static = 2,
    /// Large blocks of OCaml 5, each allocated by itself.
    Large = 3,
    /// Memory outside the heap that custom blocks share: no region has it.
    OffHeap = 4,
}

impl Space {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Major, Self::Minor, Self::Static, Self::Large, Self::OffHeap];

    /// Its name, as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
            Self::Static => "static",
            Self::Large => "large",
            Self::OffHeap => "off-heap",
        }
    }
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

pub use crate::read::Strength;

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

/// A function, by its code pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name, as the program's symbols or debug information have it.
    pub name: Vec<u8>,
    /// Its source file.
    pub file: Vec<u8>,
    /// The line it starts at, 0 if unknown.
    pub line: u32,
}

/// What a custom block holds elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Custom {
    /// Bytes outside the heap that go away with it; `None` if how many is unknown.
    pub external: Option<u64>,
    /// Memory outside that it shares with other custom blocks.
    pub shared: Option<Shared>,
}

/// Where a custom block has the memory outside the heap that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Its field that leads there.
    pub field: u64,
    /// What tells this memory from other: the address of what counts its owners.
    pub owner: u64,
}

/// Memory outside the heap that several custom blocks keep.
#[derive(Clone, Debug, Default)]
pub struct Owned {
    /// How much; `None` if that is unknown.
    pub external: Option<u64>,
    /// What sort of memory.
    pub name: &'static str,
}

/// What only the runtime knows, asked while walking. `block` is the address of a block's first
/// field, `words` are its fields.
pub trait Details {
    /// A custom block; `ops` is its first field. Asked once for each.
    fn custom(&mut self, block: u64, ops: u64, words: &[u64]) -> Custom;
    /// The identifier of custom operations. Asked once for each.
    fn identifier(&mut self, ops: u64, into: &mut Vec<u8>);
    /// The memory that custom blocks share. Asked once for each owner, after all custom blocks.
    fn owned(&mut self, owner: u64) -> Owned;
    /// The function at a code pointer. Asked once for each; left empty where it is not known.
    fn function(&mut self, code: u64, into: &mut Function);
    /// Every value on the stacks that a continuation holds. Asked twice for each, and must say
    /// the same both times.
    fn continuation(&mut self, block: u64, words: &[u64], each: &mut dyn FnMut(u64));
    /// How long the target stood still, in nanoseconds; 0 if that is not known. Asked once, when all
    /// blocks are written: the target has long gone on by then, and says how long it took.
    fn pause(&mut self) -> u64;
}

/// What came into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Blocks, static ones too, and those that stand for shared memory outside the heap.
    pub blocks: u64,
    /// Pointers between blocks.
    pub edges: u64,
    /// Roots that hold a block.
    pub roots: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Words of blocks and roots that look like pointers and point to no block.
    pub outside: u64,
}

/// Writes a snapshot.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::Unsupported`] for more than 2^32 - 2^20 blocks.
pub fn write<W: Write, D: Details>(
    out: W,
    source: &Source<'_>,
    details: &mut D,
) -> io::Result<Written> {
    let found = find::find(source, details)?;
    emit::emit(out, source, &found, details)
}
