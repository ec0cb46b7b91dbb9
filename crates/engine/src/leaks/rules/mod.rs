//! Kinds of leaks. Each rule looks at what is known of an owner that grows, and describes it if it is of that kind; the
//! first one that does decides.

mod buffers;
mod callbacks;
mod containers;
mod fibers;
mod finalisers;
pub(super) mod finding;
mod other;
mod promises;
mod queues;
mod weak;

use super::evidence::Evidence;
use finding::Finding;

/// A rule.
type Rule = fn(&Evidence<'_>) -> Option<Finding>;

/// All rules, in the order in which they are asked.
const RULES: [Rule; 8] = [
    finalisers::describe,
    fibers::describe,
    weak::describe,
    promises::describe,
    callbacks::describe,
    queues::describe,
    buffers::describe,
    containers::describe,
];

/// What the first rule says that applies.
pub(super) fn describe(evidence: &Evidence<'_>) -> Finding {
    RULES.iter().find_map(|rule| rule(evidence)).unwrap_or_else(|| other::describe(evidence))
}
