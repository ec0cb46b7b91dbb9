//! A queue that falls behind: more is put into it than is taken out.

use memtrail_heap::contents::Structure;

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    let container = evidence.contents.container.as_ref()?;
    let is_queue = container.structure == Structure::Queue
        && container.retained.0.saturating_mul(2) >= evidence.owner.owned;
    is_queue
        .then(|| Finding { rule: "queue that falls behind", clause: evidence.added("elements") })
}
