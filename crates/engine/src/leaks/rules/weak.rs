//! Weak tables that are not cleaned: the values are gone, the ephemerons and buckets that held them are not.

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    let is_weak = |name: &str| {
        name.trim_start_matches("~ ") == "ephemeron"
            || name == "weak array"
            || name.contains("Ephemeron.")
            || name.contains("Weak.")
    };
    let (weak, all) = evidence.blocks_of(is_weak);
    let is_ephemeron = evidence.owner.kind == "ephemeron";
    // A bucket or cell, and what is in it, goes with each.
    (is_ephemeron || (weak >= 10 && weak.saturating_mul(5) >= all)).then(|| Finding {
        rule: "weak table that is not cleaned",
        clause: format!(
            "{}: ephemerons and weak pointers stay in it when their values are gone",
            evidence.added("ephemerons")
        ),
    })
}
