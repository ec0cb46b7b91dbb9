//! Heap snapshots as files: which a recording has, what is left beside each, and the names and types that belong to them.
//! Commands open snapshots here, whether they ask an engine or the heap itself.

mod file;
mod list;
mod memory;
mod source;
pub(crate) mod stored;
pub(crate) mod types;
mod variables;

pub(crate) use file::File;
pub(crate) use list::{facts, is_snapshot, no_such, of_recording};
pub(crate) use memory::MemoryArgs;
pub(crate) use source::SnapshotFiles;
