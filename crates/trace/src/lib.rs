//! Allocation traces in memtrace's format (a dialect of CTF), versions 1 to 3.
#![forbid(unsafe_code)]

pub mod header;
mod info;
mod units;
pub mod wire;

pub use info::{Location, Source, TraceInfo};
pub use units::{BlockId, Bytes, Code, DomainId, SampleRate, Timestamp, Words};
