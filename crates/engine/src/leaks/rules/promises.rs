//! Promises of Lwt that are not resolved: each retains its callbacks.

use super::finding::Finding;
use crate::leaks::evidence::Evidence;

pub(super) fn describe(evidence: &Evidence<'_>) -> Option<Finding> {
    // With types, promises and their resolvers; without, the closures that Lwt adds to those that are pending.
    let (promises, all) = evidence.blocks_of(is_promise);
    let (callbacks, _) = evidence.blocks_of(|name| name.starts_with("closure Lwt."));
    let most = promises.max(callbacks);
    // Its state, its callbacks and what they captured go with each.
    (most >= 10 && most.saturating_mul(12) >= all).then(|| Finding {
        rule: "promises that are not resolved",
        clause: format!(
            "{}: promises that are pending retain their callbacks",
            evidence.added("promises")
        ),
    })
}

/// Whether blocks of a type are promises or what resolves them: `Bytes.t Lwt.Public_types.u`.
fn is_promise(name: &str) -> bool {
    let ty = name.split(" (").next().unwrap_or(name);
    let last = ty.rsplit(' ').next().unwrap_or(ty);
    let is_of_lwt = last.starts_with("Lwt.");
    is_of_lwt && [".t", ".u", ".promise"].iter().any(|end| last.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_and_resolvers_are_of_lwt() {
        assert!(is_promise("Bytes.t Lwt.Public_types.u"));
        assert!(is_promise("unit Lwt.t") && is_promise("(unit, 'a, 'b) Lwt.Main.promise"));
        for other in ["Bytes.t Lwt.u list (::)", "string", "closure Lwt.(fun) lwt.ml:7", "Lwt_io.t"]
        {
            assert!(!is_promise(other), "{other}");
        }
    }
}
