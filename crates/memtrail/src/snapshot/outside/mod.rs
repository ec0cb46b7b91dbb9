//! Snapshots of processes that memtrail did not start: what core files and processes that run have in common.

mod bytecode_file;
pub(super) mod executables;
mod no_heap;
mod recording;
mod save;

use std::path::Path;

pub(super) use bytecode_file::BytecodeFile;
pub(super) use executables::{Executables, Places};
pub(super) use no_heap::no_heap;
pub(super) use recording::is_of_process;
pub(super) use save::{Taken, save};

/// Source of a heap.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// A core file.
    CoreFile(&'a Path),
    /// The frozen copy of a process.
    Process(u32),
}

impl Source<'_> {
    /// The source in messages.
    pub(super) fn name(self) -> String {
        match self {
            Self::CoreFile(path) => path.display().to_string(),
            Self::Process(pid) => format!("process {pid}"),
        }
    }
}
