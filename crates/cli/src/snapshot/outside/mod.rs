//! Snapshots of processes that memtrail did not start: what core files and processes that run have in common.

mod bytecode_file;
pub(super) mod executables;
mod recording;
mod save;
mod source;
mod taken;

pub(super) use bytecode_file::BytecodeFile;
pub(super) use executables::{Executables, Places};
pub(super) use recording::is_of_process;
pub(super) use save::save;
pub(super) use source::{Source, no_heap};
pub(super) use taken::Taken;
