//! Names and types of an OCaml program's global variables.
//!
//! A program has the names of its compilation units and the digests of their interfaces and
//! implementations ([`program`]). The compiler leaves `.cmt` and `.cmi` files on disk; they are matched by
//! digest ([`find`]). Their layout changes with each version of the compiler, so a small OCaml program,
//! which is shipped as source, is built with the user's own compiler and reads them ([`helper`]). It
//! writes the layout of each unit's block: names, types and positions of its slots, in a format that does
//! not change with the compiler ([`Types`], `format.rs`).
#![forbid(unsafe_code)]

#[cfg(feature = "find")]
mod cache;
#[cfg(feature = "find")]
pub mod compiler;
mod content;
mod digest;
mod error;
#[cfg(feature = "find")]
pub mod find;
mod format;
#[doc(hidden)]
pub mod fuzz;
#[cfg(feature = "find")]
pub mod helper;
#[cfg(feature = "find")]
mod marshal;
#[cfg(feature = "find")]
mod packs;
#[cfg(feature = "find")]
pub mod plugin;
mod problem;
#[cfg(feature = "find")]
pub mod program;
mod read;
mod read_table;
#[cfg(feature = "find")]
pub mod resolve;
#[cfg(feature = "find")]
mod results;
mod slot;
pub mod term;
mod term_text;
#[cfg(feature = "find")]
pub mod trusted_folder;
mod unit;
mod write;
mod write_table;

#[cfg(feature = "find")]
pub use cache::is_kept;
pub use digest::Digest;
pub use error::{Cause, Error};
pub use format::FILE;
pub use problem::{Problem, Reason};
pub use slot::{Position, Slot, SlotKind};
pub use unit::{Evidence, Field, Layout, Types, Unit};
