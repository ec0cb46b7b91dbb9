//! Core files of OCaml programs: a process that ended or was looked at by a debugger, as its memory was. The frozen copy of a
//! process that runs is read in the same way, as a [`CoreFile`] that was not parsed.
//!
//! Bytes are given by the caller, those of the core file and of the executables that were mapped: nothing here opens a
//! file. Offsets in errors are those of the core file.

mod activity;
mod error;
mod executable;
mod memory;
mod moment;
mod notes;
mod parse;
mod private;
mod process;
mod running;
mod tables;

pub use error::{CoreError, Unreadable};
pub use executable::build_id;
pub use memory::{CoreMemory, MappedFiles};
pub use moment::{Moment, Runtime};
pub use notes::{MappedFile, Program, REGISTERS, Thread};
pub use parse::{CoreFile, Segment};
pub use process::{CoreProcess, Limit};
