//! Large buffers, bigarrays and channels: few blocks, or memory outside the heap.

use memtrail_heap::contents::Structure;

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

/// Blocks of so many bytes are large.
const LARGE: u64 = 64 << 10;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    let rule = "large buffers";
    let (channels, _) = evidence.blocks_of(|name| name == "channel");
    let external = evidence.owner.external;
    if channels >= 10 && external > evidence.owner.owned {
        let clause = format!("{channels} channels are open, each with its buffer");
        return Some(Finding { rule, clause });
    }
    if external > evidence.owner.owned {
        let clause =
            format!("most of it is off-heap memory: {}", evidence.added("blocks that own some"));
        return Some(Finding { rule, clause });
    }
    if let Some(container) = &evidence.contents.container
        && container.structure == Structure::Buffer
        && container.retained.0.saturating_mul(2) >= evidence.owner.owned
    {
        return Some(Finding {
            rule,
            clause: "a buffer is appended to, and not cleared".to_owned(),
        });
    }
    let first = evidence.contents.kinds.first()?;
    let is_large = first.blocks > 0
        && first.bytes.0 / first.blocks >= LARGE
        && first.bytes.0.saturating_mul(2) >= evidence.owner.owned;
    is_large.then(|| Finding { rule, clause: evidence.added("large blocks") })
}
