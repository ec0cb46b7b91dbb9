//! Walks the heap of a frozen OCaml process: roots with names, the memory that blocks are in, and what else a snapshot
//! needs to know.
//!
//! The agent's frozen copy of its own process and `memtrail snapshot --core` share this code. They differ in [`StoppedProcess`]:
//! how memory is read, and how the runtime's private tables are found.
//!
//! Nothing here panics, whatever memory it is shown, and nothing recurses on the shape of data. No lock is taken.
//! Code of the process is called by the agent's implementation of [`StoppedProcess`] alone. Offsets and symbol names of the
//! runtime are in `memtrail-ocaml`.
#![forbid(unsafe_code)]

mod bigarrays;
mod bytecode;
mod compiler_made;
#[cfg(feature = "core-file")]
pub mod core_file;
mod definitions;
mod descriptors;
mod details;
mod finalisers;
mod frozen;
mod functions;
#[cfg(feature = "core-file")]
pub mod fuzz;
mod linked_references;
mod malloc;
mod mapped;
mod modules;
mod neighbours;
mod object_files;
mod ocaml4;
mod ocaml5;
mod orphans;
mod regions;
mod registered;
mod registers;
mod roots;
mod source;
mod stacks;
mod symbols;
mod tracked;

pub use details::RuntimeDetails;
pub use frozen::{Bytecode, Slots, StoppedProcess, View};
pub use mapped::Mapped;
pub use roots::RootList;
pub use source::{counters, regions, roots, source};
pub use symbols::Symbols;
