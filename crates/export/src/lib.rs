//! Writes what was allocated where in other tools' formats.
#![forbid(unsafe_code)]

mod format;

pub use format::Format;
