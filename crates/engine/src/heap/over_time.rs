//! The answers to [`Ask::Snapshots`](crate::ask::Ask::Snapshots),
//! [`Ask::Evolution`](crate::ask::Ask::Evolution) and
//! [`Ask::HeapGrowth`](crate::ask::Ask::HeapGrowth), which summaries suffice for.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use memtrail_heap::query::Summary;
use serde_json::{Value, json};

use super::rows::Rows;
use super::shelf::Known;
use crate::answer::Answer;
use crate::ask::{Evolution, HeapGrowth, Series};
use crate::names::shown;

/// Series at most.
const MOST_SERIES: usize = 50;
/// Rows of growth at most.
const MOST_GROWN: usize = 500;
/// What the part of the heap is called that several roots keep alive together.
const SEVERAL: &str = "several roots together";

/// Lists snapshots; `start` is when the recording began, in seconds since 1970, if that is known.
pub(super) fn snapshots(known: &[Known], start: Option<f64>, why_not: Option<String>) -> Answer {
    let first = known.first().map_or(0.0, |known| known.facts.taken_unix);
    let start = start.unwrap_or(first);
    let rows: Vec<Value> = known
        .iter()
        .map(|known| {
            let facts = &known.facts;
            json!({
                "number": facts.number,
                "reason": shown(&facts.reason),
                "at": (facts.taken_unix > 0.0).then_some((facts.taken_unix - start).max(0.0)),
                "pause": facts.pause,
                "heap": facts.heap,
                "live": known.summary.as_ref().map(|summary| summary.bytes),
                "blocks": facts.blocks,
                "file_bytes": facts.file_bytes,
                "major": facts.major,
                "minor": facts.minor,
                "analysed": known.summary.is_some(),
                "contents": facts.contents,
                "included": known.included,
                "damage": known.failed.as_ref().or(facts.damage.as_ref()),
            })
        })
        .collect();
    let (can_take, why_not) = (why_not.is_none(), why_not);
    Answer::new(json!({ "snapshots": rows, "can_take": can_take, "why_not": why_not }))
}

/// Those that have summaries.
fn ready(known: &[Known]) -> Vec<(u64, Arc<Summary>)> {
    known.iter().filter_map(|known| Some((known.facts.number, known.summary.clone()?))).collect()
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

pub(super) fn evolution(known: &[Known], ask: &Evolution) -> Answer {
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
    Answer::new(json!({
        "ready": ready.len(),
        "of": known.len(),
        "snapshots": ready.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        "total": total,
        "series": series,
        "rest": rest,
    }))
}

/// A name, whether it is a root's, and the kind of root.
type Grown<'a> = (&'a str, bool, Option<&'a str>);

pub(super) fn growth(known: &[Known], ask: &HeapGrowth) -> Answer {
    let among = |number: u64| {
        ask.from.is_none_or(|from| number >= from) && ask.to.is_none_or(|to| number <= to)
    };
    let of = known.iter().filter(|known| among(known.facts.number)).count();
    let mut ready = ready(known);
    ready.retain(|(number, _)| among(*number));
    // Only what grew from each to the next: what is not there once is out.
    let mut alive: HashMap<Grown<'_>, Vec<u64>> = HashMap::new();
    for (place, (_, summary)) in ready.iter().enumerate() {
        let kinds =
            summary.kinds.iter().map(|kind| ((kind.name.as_str(), false, None), kind.bytes));
        let roots = summary.roots.iter().filter(|root| !root.name.is_empty());
        let roots =
            roots.map(|root| ((root.name.as_str(), true, Some(root.kind.as_str())), root.retained));
        for (key, bytes) in kinds.chain(roots) {
            // What comes later than in the second has not grown from the first on.
            if place <= 1 {
                alive.entry(key).or_insert_with(|| vec![0; place]);
            }
            if let Some(sizes) = alive.get_mut(&key)
                && sizes.len() == place
            {
                sizes.push(bytes.0);
            }
        }
        alive.retain(|_, sizes| {
            sizes.resize(place + 1, 0);
            place == 0 || sizes[place] > sizes[place - 1]
        });
    }
    if ready.len() < 2 {
        alive.clear();
    }
    let mut rows: Vec<(Grown<'_>, Vec<u64>)> = alive.into_iter().collect();
    let by =
        |sizes: &[u64]| sizes.last().zip(sizes.first()).map_or(0, |(last, first)| last - first);
    rows.sort_by_key(|(key, sizes)| (Reverse(by(sizes)), *key));
    let mut bounds = Rows::new(MOST_GROWN);
    let told = bounds.affordable(&rows, |((name, ..), sizes)| 80 + name.len() + sizes.len() * 10);
    let rows: Vec<Value> = told
        .iter()
        .map(|((name, is_root, kind), sizes)| {
            json!({ "name": shown(name), "is_root": is_root, "kind": kind, "bytes": sizes })
        })
        .collect();
    Answer::new(json!({
        "ready": ready.len(),
        "of": of,
        "snapshots": ready.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        "rows": rows,
    }))
}
