//! Weak tables: ephemerons, and the buckets that hold them, stay until the table is cleaned, also those without values.

use memtrail_text::rounded::grouped;

use super::finding::Finding;
use crate::leaks::contents::WeakCells;
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
    (is_ephemeron || (weak >= 10 && weak.saturating_mul(5) >= all)).then(|| {
        let WeakCells { all, empty } = evidence.contents.weak;
        let of = format!("{} of {} cells are empty", grouped(empty), grouped(all));
        let why = if empty.saturating_mul(2) >= all {
            "their values are gone, and they stay until the table is cleaned"
        } else {
            "most values are retained elsewhere"
        };
        let clause = format!("{}; {of}: {why}", evidence.added("ephemerons"));
        Finding { rule: "weak table", clause }
    })
}
