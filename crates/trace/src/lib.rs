//! Reads and writes allocation traces in memtrace's format (a dialect of CTF), versions 1 to 3.
//!
//! A trace lists the blocks that a statistical profiler sampled in an OCaml process: when each
//! was allocated, with what backtrace, when it was promoted and when it was found dead.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use memtrail_map::MappedFile;
//! use memtrail_trace::{Detail, Event, Reader};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/cache-v2.ctf");
//! let trace = MappedFile::open(path.as_ref())?;
//! let reader = Reader::new(&trace)?;
//! let mut words = 0.0;
//! let decoded = reader.for_each(Detail::Codes, |event, _| {
//!     if let Event::Alloc(alloc) = event {
//!         words += alloc.samples as f64 / reader.info().sample_rate.0;
//!     }
//! });
//! println!("about {words} words allocated, {} anomalies", decoded.anomalies.total());
//! # Ok(())
//! # }
//! ```
//!
//! - [`Reader`] reads a trace that is there as a whole, [`Follow`] one that still grows. Both hand
//!   each [`Event`] to a closure, with the [`Tables`] of call sites and backtraces so far.
//! - [`mod@write`] is the other direction, [`mod@rewrite`] both at once, [`mod@redact`] a copy with
//!   other names, [`mod@merge`] one trace of several.
//! - `examples/lifetimes.rs` is a whole analysis of one's own.
//!
//! # Invariants
//!
//! - No input makes the reader panic, and nothing but a file without any trace information makes
//!   it fail. Whatever is not as it should be is an [`Anomaly`] with its offset, and reading goes
//!   on behind it.
//! - Reading does no I/O and allocates nothing for an event: backtraces are slices of a buffer
//!   that is used again.
//! - Within a domain, times never decrease and the ids of allocations are as the file has them.
//!   Nothing is merged, sorted or matched: that a collected block was ever allocated is for the
//!   caller to see.
//!
//! # The format
//!
//! A sequence of packets, each with a [header], the first of which holds the
//! [`TraceInfo`]. The events in it are made of the [primitives](wire) of the format. Memory of
//! what has been said before makes them short: a cache of codes with predictions for backtraces,
//! move-to-front tables for names; each domain has its own.
#![forbid(unsafe_code)]

mod follow;
#[doc(hidden)]
pub mod fuzz;
pub mod header;
mod info;
mod locations;
pub mod malloc;
pub mod merge;
mod naming;
mod new_ids;
pub mod omitted;
mod packets;
pub mod rates;
mod read;
pub mod redact;
pub mod replace_part;
pub mod rewrite;
mod strings;
#[cfg(feature = "subsample")]
pub mod subsample;
#[cfg(feature = "subsample")]
pub mod thin;
mod tree;
mod units;
pub mod wire;
pub mod write;

pub use follow::Follow;
pub use info::{Location, PARTIAL_APPLICATION, Source, TraceInfo};
pub use locations::{Locations, Site};
pub use naming::Naming;
pub use packets::whole_packets;
pub use read::{
    Alloc, Anomalies, Anomaly, Cause, Decoded, Detail, Error, Event, Mark, Reader, Tables,
    allocations,
};
pub use strings::{StringId, Strings};
pub use tree::StackTree;
pub use units::{
    BlockId, Bytes, Code, DomainId, FileId, FrameId, FunctionId, SampleRate, StackId, Timestamp,
    Words,
};
