//! What refers to sampled blocks: pointers to them, found by a conservative scan of a frozen copy of the process.
//!
//! The process is copied at its end, or on request ([`requests`]), and goes on ([`take`]). The copy reads its mappings
//! ([`areas`]), finds the chunks of glibc's `malloc` ([`chunks`]) and the threads ([`threads`]), looks at each word of
//! blocks, variables, stacks and thread-local variables ([`scan`]), and writes a file of `memtrail-references`. Nothing
//! is judged here.
//!
//! Nothing of this is set up unless the user asked for snapshots.

mod areas;
mod chunks;
mod pages;
pub(super) mod requests;
mod scan;
mod stack_top;
pub(super) mod take;
mod thread_ids;
mod threads;

pub(super) use stack_top::StackTop;
