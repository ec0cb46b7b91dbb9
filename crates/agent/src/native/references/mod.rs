//! What refers to sampled blocks: pointers to them, found by a conservative scan of a frozen copy of the process.
//!
//! The process is copied at its end, or on request ([`requests`]), and goes on ([`take`]). The copy writes a file of
//! `memtrail-references`.
//!
//! Nothing of this is set up unless the user asked for snapshots.

pub(super) mod requests;
mod stack_top;
pub(super) mod take;

pub(super) use stack_top::StackTop;
