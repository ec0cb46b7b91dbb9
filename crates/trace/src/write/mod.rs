//! Writes allocation traces, byte for byte what memtrace's own readers take.
//!
//! [`StreamWriter`] writes the packets of one domain into a buffer that the caller gives it. It is
//! made for use inside the traced process, in the middle of an allocation: it neither panics nor
//! aborts, allocates memory only to remember a code that it has not met, and its buffer holds a
//! whole packet after every call, so that what a killed process leaves behind can be read.
//! [`TraceWriter`] puts a file together from such streams.
//!
//! Memory that cannot be had is no failure here: the tables that would have grown forget, which
//! costs bytes in the trace or frames of a backtrace. Backtraces that do not fit a packet lose their
//! middle ([`omitted`](crate::omitted)).

mod backtrace;
mod defined;
mod info;
mod locations;
mod sink;
mod stream;
mod trace;

#[cfg(test)]
mod tests;

use crate::info::Source;
use crate::units::Words;

pub use info::info_packet;
pub use stream::{NewStreamError, StreamWriter};
pub use trace::TraceWriter;

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
    /// How many of its words were sampled, at least 1.
    pub samples: u64,
    /// Where it was allocated.
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
