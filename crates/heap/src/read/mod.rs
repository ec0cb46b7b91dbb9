//! The reader: takes a file's bytes, gives its tables and, section by section, its blocks.
//!
//! It does no I/O and never panics: a snapshot is whatever was on the disk.

mod columns;
mod decoded;
mod error;
mod marks;
mod peek;
pub(crate) mod sections;
mod snapshot;
pub(crate) mod tables;

pub use crate::label::Strength;
#[cfg(feature = "analysis")]
pub(crate) use columns::Detail;
pub use columns::{Block, Columns, Fields};
pub use decoded::DecodedSections;
pub use error::{Cause, Error};
#[cfg(feature = "analysis")]
pub(crate) use marks::HAS_DATA;
pub use marks::{Immediates, Marks, ObjectName, Objects};
pub use peek::Peek;
pub use snapshot::Snapshot;
pub use tables::{Ephemeron, Function, Root, Sample, Totals};
