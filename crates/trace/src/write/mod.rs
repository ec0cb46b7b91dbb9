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
mod event;
mod info;
mod locations;
mod sink;
mod stream;
mod trace;

#[cfg(test)]
mod tests;

pub use event::{AllocEvent, Refused, Version};
pub use info::info_packet;
pub use stream::{NewStreamError, StreamWriter};
pub use trace::TraceWriter;
