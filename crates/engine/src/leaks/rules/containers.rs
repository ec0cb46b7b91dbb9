//! A table, map, set, list or array that only grows: a cache that never evicts, a registry, a log.

use memtrail_heap::contents::Structure;
use memtrail_text::rounded::{bytes, grouped};

use super::finding::Finding;
use crate::leaks::contents::Container;
use crate::leaks::evidence::{Evidence, LARGE_VALUE};

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
    let added = large_entries(evidence, container, what).unwrap_or_else(|| evidence.added(what));
    let clause = [Some(added), hidden(container)];
    let clause: Vec<String> = clause.into_iter().flatten().collect();
    Some(Finding { rule: "growing container", clause: clause.join("; ") })
}

/// The clause about entries of which each retains so much that they may grow, and no sample says that any was added.
fn large_entries(evidence: &Evidence<'_>, container: &Container, what: &str) -> Option<String> {
    let count = container.entries.filter(|count| *count > 0)?;
    let each = container.retained.0 / count;
    (evidence.added_at.is_none() && each >= LARGE_VALUE).then(|| {
        format!(
            "its {} {what} retain {} each on average: {what} are added, or what they retain grows",
            grouped(count),
            bytes(each as f64)
        )
    })
}

/// Entries for each chain from which keys are said to be in a table several times. `Hashtbl` grows at 2.
const MANY: u64 = 8;

/// The clause about a table whose entries are in few of its chains.
fn hidden(container: &Container) -> Option<String> {
    let (entries, chains) = (container.entries?, container.chains?);
    (entries >= 1_000 && entries / chains.max(1) >= MANY).then(|| {
        format!(
            "the {} entries are in {} buckets: keys or their hashes repeat (`Hashtbl.add` keeps the entry that it \
             hides, `Hashtbl.replace` does not)",
            grouped(entries),
            grouped(chains)
        )
    })
}
