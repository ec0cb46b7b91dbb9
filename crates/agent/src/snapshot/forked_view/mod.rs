//! What happens in the frozen copy: the heap is walked and written down.
//!
//! Everything holds still here and this is the only thread. What other threads held when the copy was
//! made stays held: no lock of the program's, of its libraries' or of ours is touched.

mod copy;
mod details;
mod file;
mod finalisers;
mod native_references;
mod object_file;
mod scan;
pub(super) mod write;
