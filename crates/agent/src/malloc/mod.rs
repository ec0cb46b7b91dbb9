//! Records an OCaml program's calls of `malloc`, too: memory outside its heap.
//!
//! `crates/whole` makes a shared library of it, whose functions are before those of the program's allocator. They
//! call those of [`crate::native`] where a block may be sampled, or a sampled one is freed. `memtrail-sampler` draws,
//! walks the stack by the tables for exceptions, through C and OCaml alike, and knows the sampled blocks; its tracker
//! ([`tracker`]) writes them into a part of the trace of their own ([`state`]). OCaml's frames are named by the
//! runtime's frame tables ([`frames`]), others are places in files, which the launcher names after the end.
//!
//! Frozen copies find the sampled blocks ([`sampled`], [`tracked`]).
//!
//! What the runtime allocates for OCaml's heap is left out ([`runtime_functions`]): the runtime's sampler has that. So are custom
//! blocks' bytes in the runtime's samples, which are memory from `malloc`.

mod frames;
mod runtime_functions;
pub(crate) mod sampled;
mod start;
mod state;
mod tracked;
mod tracker;

pub use start::prepare;
pub(crate) use start::{began, rate, start, with_locations};
