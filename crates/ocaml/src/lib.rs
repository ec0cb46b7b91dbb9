//! All knowledge of the OCaml runtime: versions, layouts, frame tables, names.
//!
//! This is the only place in memtrail where an offset or a symbol name of the runtime is written down. Everything is
//! taken from the runtime's sources, and each table names the file it comes from.
//!
//! Invariants:
//! - what the agent uses neither allocates nor panics, whatever memory it is shown: all memory is read through
//!   [`Memory`], and every answer about it is an `Option` or a `Result`;
//! - the only `unsafe` is in [`memory`], where this process is read;
//! - nothing here knows of traces, processes or files: [`inspect`] is given an executable's bytes.
//!
//! Word size is 64 bits, byte order little-endian: amd64 and arm64.

#![deny(unsafe_code)]

pub mod block;
pub mod bytecode;
pub mod calibrate;
pub mod class_functions;
pub mod code_references;
pub mod debuginfo;
pub mod definition_lines;
pub mod domain_lock;
pub mod entry_code;
pub mod frames;
pub mod functions;
#[doc(hidden)]
pub mod fuzz;
pub mod heap;
#[cfg(feature = "image")]
pub mod image;
#[cfg(feature = "inspect")]
pub mod inspect;
pub mod layout;
pub mod memory;
pub mod memprof;
pub mod names;
pub mod neighbours;
pub mod own_name;
pub mod parameters;
pub mod release;
#[cfg(feature = "shape")]
pub mod shape;
pub mod stack;
pub mod symbols;
pub mod variants;
pub mod version;

pub use layout::Layout;
pub use memory::{Address, Memory};
pub use version::{Generation, Unsupported, Version, detect};
