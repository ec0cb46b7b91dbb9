//! What refers to sampled blocks: pointers to them, found by a conservative scan of a frozen copy of the process.
//!
//! The process is copied at its end, or on request ([`requests`]), and goes on ([`take`]). The copy writes a file of
//! `memtrail-references`.
//!
//! Nothing of this is set up where the user wants no snapshots. Without a word of his there is one at the end, if the
//! program is worth it ([`worth`]).

pub(super) mod requests;
mod stack_top;
pub(super) mod take;
mod worth;

pub(super) use stack_top::StackTop;
pub(super) use worth::{Refused, is_worth_a_last_one};
