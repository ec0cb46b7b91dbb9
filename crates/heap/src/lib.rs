//! Heap snapshots of OCaml processes: the file, the pointer graph, and what retains what.
#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![deny(unsafe_code)]

#[cfg(feature = "analysis")]
mod block_types;
#[cfg(feature = "analysis")]
mod block_types_column;
#[cfg(feature = "analysis")]
mod block_types_file;
#[cfg(feature = "analysis")]
mod block_types_table;
#[cfg(feature = "analysis")]
pub mod contents;
mod definitions;
mod facts;
#[cfg(feature = "analysis")]
mod file_frame;
mod format;
mod function_lines;
#[doc(hidden)]
pub mod fuzz;
#[cfg(feature = "analysis")]
pub mod graph;
mod label;
#[cfg(all(feature = "analysis", feature = "mmap"))]
mod mapped_arena;
#[doc(hidden)]
pub mod model;
#[cfg(feature = "analysis")]
pub mod query;
pub mod read;
pub mod redact;
pub mod renumber;
mod space;
pub mod tag;
mod units;
mod variable_places;
pub mod write;

#[cfg(feature = "analysis")]
pub use block_types::{BlockType, BlockTypeId, BlockTypes, Derivation, FieldNames};
#[cfg(feature = "analysis")]
pub use block_types_file::TypesSource;
pub use definitions::FunctionDefinition;
pub use facts::{Facts, SnapshotReason};
pub use function_lines::Between;
pub use label::{Label, LabelRole, Labels, PREDEFINED_EXCEPTIONS, RootKind, Strength, Variable};
#[cfg(feature = "mmap")]
pub use mapped_arena::give_back_freed;
pub use space::Space;
pub use units::{Address, BlockIndex, Bytes, LabelId, Words};
pub use variable_places::{Position, VariablePlace};
