//! What refers to a program's blocks of `malloc`: its file of references, joined with its trace, and with the heap
//! snapshot of an OCaml program.
//!
//! References were found by a conservative scan: a number that looks like a pointer counts as one. All sizes are
//! estimates of all blocks, sampled or not.

mod descriptions;
mod grouped;
mod heap_values;
mod in_file;
mod joined;
mod referrers;
mod retainers;
mod steps;
mod unreachable;

pub(crate) use descriptions::{estimate, not_known};
pub(crate) use heap_values::with_garbage;
pub use in_file::ReferencesFacts;
pub(crate) use referrers::referrers;
pub use referrers::{ReferrersResponse, ReferringPath};
pub(crate) use retainers::add_retainers;
pub(crate) use unreachable::unreachable;
