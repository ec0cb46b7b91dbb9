//! Threads, as the runtime numbers them.

use memtrail_heap::query::OwnerRow;

/// The number that the runtime gave a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadNumber(pub(super) u64);

/// The thread of a root that is its stack, or is on it.
pub(super) fn number(row: &OwnerRow) -> Option<ThreadNumber> {
    let number = |name: &String| name.strip_prefix("thread ")?.parse().ok();
    let is_stack = row.kind == "stack";
    row.path.iter().find_map(number).filter(|_| is_stack).map(ThreadNumber)
}
