//! Allocation traces in memtrace's format (a dialect of CTF), versions 1 to 3.
#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![deny(unsafe_code)]

mod follow;
#[doc(hidden)]
pub mod fuzz;
pub mod header;
mod info;
mod locations;
#[cfg(feature = "mmap")]
mod map;
mod read;
mod strings;
mod tree;
mod units;
pub mod wire;
pub mod write;

pub use follow::Follow;
pub use info::{Location, Source, TraceInfo};
pub use locations::{Locations, Site};
#[cfg(feature = "mmap")]
pub use map::MappedTrace;
pub use read::{
    Alloc, Anomalies, Anomaly, Cause, Decoded, Detail, Error, Event, Mark, Reader, Tables,
};
pub use strings::{StringId, Strings};
pub use tree::StackTree;
pub use units::{
    BlockId, Bytes, Code, DomainId, FileId, FrameId, FunctionId, SampleRate, StackId, Timestamp,
    Words,
};
