//! Weak tables: ephemerons, and the buckets that hold them, stay until the table is cleaned. Whether their values are gone
//! is not looked at.

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
        rule: "weak table",
        clause: format!(
            "{}; each stays until the table is cleaned, even if its value is gone",
            evidence.added("ephemerons")
        ),
    })
}
