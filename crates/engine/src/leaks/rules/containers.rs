//! A table, map, set, list or array that only grows: a cache that never evicts, a registry, a log.

use memtrail_heap::contents::Structure;

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    let container = evidence.contents.container.as_ref()?;
    // A small one beside other data is not what grows.
    if container.retained.0.saturating_mul(2) < evidence.owner.owned {
        return None;
    }
    let what = match container.structure {
        Structure::HashTable | Structure::Map => "entries",
        Structure::Set | Structure::List | Structure::Array => "elements",
        Structure::Queue | Structure::Buffer => return None,
    };
    Some(Finding { rule: "growing container", clause: evidence.added(what) })
}
