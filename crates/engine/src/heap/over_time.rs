//! The answers to [`Snapshots`](crate::query::Snapshots),
//! [`Evolution`](crate::query::Evolution) and
//! [`HeapGrowth`](crate::query::HeapGrowth), which summaries suffice for.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use memtrail_heap::query::{Summary, Trend};
use serde_json::{Value, json};

use super::rows::{Rows, share};
use super::snapshot_store::Known;
use crate::names::shown;
use crate::query::{Evolution, HeapGrowth, Series};
use crate::response_body::ResponseBody;

/// Series at most.
const MOST_SERIES: usize = 50;
/// Rows of growth at most.
const MOST_GROWN: usize = 500;
/// What the part of the heap is called that several roots keep alive together.
const SEVERAL: &str = "jointly retained by several roots";

/// Lists snapshots; `start` is when the recording began, in seconds since 1970, if that is known.
pub(super) fn snapshots(
    known: &[Known],
    start: Option<f64>,
    why_not: Option<String>,
) -> ResponseBody {
    let first = known.first().map_or(0.0, |known| known.facts.taken_unix);
    let start = start.unwrap_or(first);
    let rows: Vec<Value> = known
        .iter()
        .map(|known| {
            let facts = &known.facts;
            json!({
                "number": facts.number,
                "reason": shown(&facts.reason),
                "label": facts.label.as_deref().map(shown),
                "at": (facts.taken_unix > 0.0).then_some((facts.taken_unix - start).max(0.0)),
                "pause": facts.pause,
                "heap": facts.heap,
                "live": known.summary.as_ref().map(|summary| summary.bytes),
                "live_in_heap": known.summary.as_ref().map(|summary| summary.in_heap),
                "blocks": facts.blocks,
                "file_bytes": facts.file_bytes,
                "major": facts.major,
                "minor": facts.minor,
                "analysed": known.summary.is_some(),
                "contents": facts.contents,
                "included": known.included,
                "damage": known.damage(),
                "readable": known.failed.is_none(),
            })
        })
        .collect();
    let (can_take, why_not) = (why_not.is_none(), why_not);
    ResponseBody::new(json!({ "snapshots": rows, "can_take": can_take, "why_not": why_not }))
}

/// Those that have summaries.
fn ready(known: &[Known]) -> Vec<(u64, Arc<Summary>)> {
    known.iter().filter_map(|known| Some((known.facts.number, known.summary.clone()?))).collect()
}

/// How many there will be no summary of, as they cannot be read.
fn failed<'a>(known: impl IntoIterator<Item = &'a Known>) -> usize {
    known.into_iter().filter(|known| known.summary.is_none() && known.failed.is_some()).count()
}

/// The numbers of those whose figures are of a part of them.
fn partial(ready: &[(u64, Arc<Summary>)]) -> Vec<u64> {
    let damaged = ready.iter().filter(|(_, summary)| summary.damage.is_some());
    damaged.map(|(number, _)| *number).collect()
}

/// A series' name, and the kind of root.
type Key<'a> = (&'a str, Option<&'a str>);

/// What a summary says of each kind, or of each of the coarsest roots: parts of all that is alive.
fn parts(summary: &Summary, by: Series) -> Vec<(Key<'_>, u64)> {
    match by {
        Series::Kind => {
            summary.kinds.iter().map(|kind| ((kind.name.as_str(), None), kind.bytes.0)).collect()
        }
        Series::Root => {
            let roots = summary.roots.iter().filter(|root| root.depth == 0);
            roots
                .map(|root| {
                    let name = if root.name.is_empty() { SEVERAL } else { &root.name };
                    ((name, Some(root.kind.as_str())), root.retained.0)
                })
                .chain([((SEVERAL, None), summary.several.0)])
                .collect()
        }
    }
}

pub(super) fn evolution(known: &[Known], ask: &Evolution) -> ResponseBody {
    let ready = ready(known);
    let mut series: HashMap<Key<'_>, Vec<u64>> = HashMap::new();
    for (place, (_, summary)) in ready.iter().enumerate() {
        for (key, bytes) in parts(summary, ask.by) {
            let of_key = series.entry(key).or_insert_with(|| vec![0; ready.len()]);
            of_key[place] += bytes;
        }
    }
    let mut series: Vec<(Key<'_>, Vec<u64>)> = series.into_iter().collect();
    series.sort_by_key(|(key, bytes)| (Reverse(bytes.iter().max().copied()), *key));
    series.truncate(ask.limit.clamp(1, MOST_SERIES));
    series.retain(|(_, bytes)| bytes.iter().any(|bytes| *bytes > 0));
    let total: Vec<u64> = ready.iter().map(|(_, summary)| summary.bytes.0).collect();
    let rest: Vec<u64> = total
        .iter()
        .enumerate()
        .map(|(place, total)| {
            let told: u64 = series.iter().map(|(_, bytes)| bytes[place]).sum();
            total.saturating_sub(told)
        })
        .collect();
    let series: Vec<Value> = series
        .iter()
        .map(|((name, kind), bytes)| json!({ "name": shown(name), "kind": kind, "bytes": bytes }))
        .collect();
    ResponseBody::new(json!({
        "ready": ready.len(),
        "failed": failed(known),
        "of": known.len(),
        "partial": partial(&ready),
        "snapshots": ready.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        "total": total,
        "series": series,
        "rest": rest,
    }))
}

/// A name, whether it is a root's, and the kind of root.
type Grown<'a> = (&'a str, bool, Option<&'a str>);

pub(super) fn growth(known: &[Known], ask: &HeapGrowth) -> ResponseBody {
    let among = |number: u64| {
        ask.from.is_none_or(|from| number >= from) && ask.to.is_none_or(|to| number <= to)
    };
    let of = known.iter().filter(|known| among(known.facts.number)).count();
    let failed = failed(known.iter().filter(|known| among(known.facts.number)));
    let mut ready = ready(known);
    ready.retain(|(number, _)| among(*number));
    let mut sizes: HashMap<Grown<'_>, Vec<u64>> = HashMap::new();
    for (place, (_, summary)) in ready.iter().enumerate() {
        let kinds =
            summary.kinds.iter().map(|kind| ((kind.name.as_str(), false, None), kind.bytes));
        let roots = summary.roots.iter().filter(|root| !root.name.is_empty());
        let roots =
            roots.map(|root| ((root.name.as_str(), true, Some(root.kind.as_str())), root.retained));
        for (key, bytes) in kinds.chain(roots) {
            sizes.entry(key).or_insert_with(|| vec![0; ready.len()])[place] = bytes.0;
        }
    }
    let trend = Trend::new(ready.len());
    let mut rows: Vec<(Grown<'_>, u64, Vec<u64>)> = sizes
        .into_iter()
        .filter_map(|(key, sizes)| Some((key, trend.growth(&sizes)?, sizes)))
        .collect();
    rows.sort_by_key(|(key, grown, _)| (Reverse(*grown), *key));
    let all = ready.last().map_or(0, |(_, summary)| summary.bytes.0);
    let mut bounds = Rows::new(MOST_GROWN);
    let told =
        bounds.affordable(&rows, |((name, ..), _, sizes)| 100 + name.len() + sizes.len() * 10);
    let rows: Vec<Value> = told
        .iter()
        .map(|((name, is_root, kind), grown, sizes)| {
            json!({
                "name": shown(name),
                "is_root": is_root,
                "kind": kind,
                "grown": grown,
                "bytes": sizes,
                "share": share(*grown, all),
            })
        })
        .collect();
    ResponseBody::new(json!({
        "ready": ready.len(),
        "failed": failed,
        "of": of,
        "partial": partial(&ready),
        "snapshots": ready.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        "rows": rows,
    }))
}
