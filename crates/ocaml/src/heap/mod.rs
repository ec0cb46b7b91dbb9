//! The heap at rest: where blocks lie, and all roots of the runtime, with what it takes to
//! name it.
//!
//! Everything here reads memory that holds still: a frozen copy of the program, or the program while
//! nothing of it runs.

pub mod bigarray;
pub mod chunks;
pub mod code;
pub mod counters;
pub mod custom;
pub mod ephemerons;
pub mod finalisers;
pub mod frames;
pub mod global_roots;
pub mod globals;
pub mod lap;
pub mod loaded;
pub mod orphans;
pub mod pools;
pub mod statics;
pub mod threads;
pub mod tracked;

use crate::memory::Address;

/// No list of the runtime's is longer than this; memory that is no list ends somewhere.
const MAX_LIST_LEN: usize = 1 << 28;

/// Bytes from a value that C code registered by name to the name (`struct named_value`,
/// `runtime/callback.c`).
pub const NAME_OF_VALUE: u64 = 16;

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Address of the first byte.
    pub start: Address,
    /// Length in bytes.
    pub bytes: u64,
}

impl Extent {
    /// The words between two addresses; `None` if they are not addresses of words, in this order.
    pub const fn between(start: Address, end: Address) -> Option<Self> {
        if start == 0 || !start.is_multiple_of(8) || !end.is_multiple_of(8) || end < start {
            return None;
        }
        Some(Self { start, bytes: end - start })
    }

    /// Whether an address lies inside.
    pub const fn contains(&self, address: Address) -> bool {
        address >= self.start && address - self.start < self.bytes
    }
}
