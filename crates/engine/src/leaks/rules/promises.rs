//! Promises of Lwt that are not resolved: each retains its callbacks.

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    let is_promise =
        |name: &str| name.contains("Lwt.") && (name.contains("promise") || name.contains("Lwt.t"));
    let (promises, all) = evidence.blocks_of(is_promise);
    (promises >= 10 && promises.saturating_mul(5) >= all).then(|| Finding {
        rule: "promises that are not resolved",
        clause: format!(
            "{}: promises that are pending retain their callbacks",
            evidence.added("promises")
        ),
    })
}
