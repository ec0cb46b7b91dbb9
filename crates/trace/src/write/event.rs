//! Sampled blocks, versions of the format, and reasons why an event is not written.

use crate::info::Source;
use crate::units::Words;

/// Version of the format of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// One domain; all of memtrace's releases read it.
    V2,
    /// Several domains; memtrace reads it after release 0.2.3.
    V3,
}

impl Version {
    /// The number in the packet's header.
    pub const fn number(self) -> u16 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }
}

/// A sampled block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocEvent {
    /// Its size, header not counted.
    pub length: Words,
    /// Number of its words that were sampled, at least 1.
    pub samples: u64,
    /// The place that it was allocated in.
    pub source: Source,
}

/// Why an event was not written. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The packet must be taken, and the next one begun: no room is left, it spans 30 s, or its
    /// ids are used up (then [`StreamWriter::set_ids`] must follow, too).
    #[error("the packet is full")]
    Full,
    /// The format cannot say this: version 2 knows of no blocks that are yet to be allocated, and
    /// version 3 has them collected only, never promoted.
    #[error("the block's id is not yet given out")]
    Unborn,
}
