//! Looks for references to blocks of `malloc` in a frozen copy of the process, conservatively.
//!
//! The copy reads its mappings ([`mod@areas`]), finds the chunks of glibc's `malloc` ([`chunks`]) and the threads
//! ([`threads`]), and looks at each word of blocks, variables, stacks and thread-local variables ([`scan`]). The result
//! is what a file of `memtrail-references` has. Nothing is judged here.

mod areas;
mod chunks;
mod pages;
mod scan;
mod system_calls;
mod targets;
mod thread_ids;
mod threads;

pub(crate) use areas::{Area, Areas, Original, areas, original};
pub(crate) use scan::{Copy, Scan};
pub(crate) use targets::Sampled;
pub(crate) use threads::prepare;
