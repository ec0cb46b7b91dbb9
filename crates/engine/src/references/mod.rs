//! What refers to the blocks of a native program: its file of references, joined with its trace.
//!
//! References were found by a conservative scan: a number that looks like a pointer counts as one. All sizes are
//! estimates of all blocks, sampled or not.

mod descriptions;
mod joined;
mod referrers;
mod unreachable;

pub(crate) use descriptions::{estimate, not_known};
pub(crate) use referrers::referrers;
pub use referrers::{ReferrersResponse, ReferringPath};
pub(crate) use unreachable::unreachable;
