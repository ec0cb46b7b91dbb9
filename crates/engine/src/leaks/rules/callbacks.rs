//! A collection of closures: callbacks that are registered and not removed, each with all that it captured.

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

/// How the kinds of closures are called.
const CLOSURES: [&str; 2] = ["closure", "partial application"];

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    let container = evidence.contents.container.as_ref()?;
    let values = container.values.as_ref()?;
    let is_large = container.retained.0.saturating_mul(2) >= evidence.owner.owned;
    (is_large && CLOSURES.iter().any(|name| values.name.starts_with(name))).then(|| Finding {
        rule: "callback list",
        clause: format!("{}, and each retains what it captured", evidence.added("closures")),
    })
}
