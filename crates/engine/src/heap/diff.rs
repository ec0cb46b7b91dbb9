//! The answer to [`HeapDiff`](crate::query::HeapDiff).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memtrail_heap::query::Summary;
use serde_json::{Value, json};

use super::rows::{Rows, share};
use crate::names::shown;
use crate::response_body::ResponseBody;

/// Two figures: before and after.
type Pair = [u64; 2];

/// Compares two snapshots, what changed most first. Shares are those of all that is alive in the one
/// where that is more.
pub(super) fn diff(before: &Summary, after: &Summary, limit: usize) -> ResponseBody {
    let all = before.bytes.0.max(after.bytes.0);
    let of_all = |[before, after]: Pair| share(before.abs_diff(after), all);
    let mut kinds: BTreeMap<&str, (Pair, Pair)> = BTreeMap::new();
    let mut roots: BTreeMap<(&str, &str), Pair> = BTreeMap::new();
    for (side, summary) in [before, after].into_iter().enumerate() {
        for kind in &summary.kinds {
            let entry = kinds.entry(&kind.name).or_default();
            (entry.0[side], entry.1[side]) = (kind.blocks, kind.bytes.0);
        }
        for root in summary.roots.iter().filter(|root| !root.name.is_empty()) {
            roots.entry((&root.kind, &root.name)).or_default()[side] = root.retained.0;
        }
    }
    let kinds = kinds.into_iter().map(|(name, (blocks, bytes))| {
        let mut tell = json!({ "name": shown(name), "kind": null, "blocks": blocks });
        (tell["bytes"], tell["share"]) = (json!(bytes), json!(of_all(bytes)));
        (bytes, name.len(), tell)
    });
    let roots = roots.into_iter().map(|((kind, name), bytes)| {
        let mut tell = json!({ "name": shown(name), "kind": kind, "blocks": null });
        (tell["bytes"], tell["share"]) = (json!(bytes), json!(of_all(bytes)));
        (bytes, name.len(), tell)
    });
    ResponseBody::new(json!({
        "bytes": [before.bytes, after.bytes],
        "blocks": [before.blocks, after.blocks],
        "kinds": most_changed(kinds.collect(), limit),
        "roots": most_changed(roots.collect(), limit),
    }))
}

fn most_changed(mut changes: Vec<(Pair, usize, Value)>, limit: usize) -> Vec<Value> {
    changes.retain(|([before, after], ..)| before != after);
    changes.sort_by_key(|([before, after], ..)| Reverse(before.abs_diff(*after)));
    let mut bounds = Rows::new(limit);
    let count = bounds.affordable(&changes, |(_, name, _)| 120 + name).len();
    changes.truncate(count);
    changes.into_iter().map(|(_, _, tell)| tell).collect()
}
