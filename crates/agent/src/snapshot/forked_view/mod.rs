//! What happens in the frozen copy: the heap is walked and written down.
//!
//! Everything holds still here and this is the only thread. What other threads held when the copy was
//! made stays held: no lock of the program's, of its libraries' or of ours is touched.

mod bigarrays;
mod compiler_made;
mod definitions;
mod descriptors;
mod details;
mod file;
mod finalisers;
mod functions;
mod linked_references;
mod malloc;
mod mapped;
mod modules;
mod native_references;
mod neighbours;
mod object_files;
pub(super) mod ocaml4;
pub(super) mod ocaml5;
mod orphans;
mod region;
pub(super) mod regions;
mod registered;
pub(super) mod roots;
mod scan;
mod stacks;
mod symbols;
mod tracked;
pub(super) mod view;
pub(super) mod write;
