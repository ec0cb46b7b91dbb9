//! What grows in another way, or in structures that are not recognised.

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

pub(super) fn describe(evidence: &Evidence<'_>) -> Finding {
    let clause = if evidence.is_never_freed() {
        "blocks are added, and none that was sampled was freed".to_owned()
    } else if evidence.freed > 0 {
        "more is added than is freed".to_owned()
    } else {
        "it grows".to_owned()
    };
    Finding { rule: "growing owner", clause }
}
