//! Core files of OCaml programs: a process that ended or was looked at by a debugger, as its memory was.
//!
//! Bytes are given by the caller, those of the core file and of the executables that were mapped: nothing here opens a
//! file. Offsets in errors are those of the core file.

mod error;
mod executable;
mod memory;
mod notes;
mod parse;
mod private;
mod process;
mod running;
mod tables;

pub use error::CoreError;
pub use executable::build_id;
pub use memory::{CoreMemory, MappedFiles};
pub use notes::{MappedFile, Program, Thread};
pub use parse::{CoreFile, Segment};
pub use process::{CoreProcess, Unreadable};
