//! Values that wait for their finaliser (`Gc.finalise`), and that nothing else retains: it has not run, or the finaliser's own
//! closure refers to the value.

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    (evidence.owner.kind == "finaliser").then(|| Finding {
        rule: "finalisers that do not run",
        clause: "values are retained by finalisers (Gc.finalise) alone: they have not run, or a finaliser's closure refers \
                 to the value itself"
            .to_owned(),
    })
}
