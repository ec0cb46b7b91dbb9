//! The answers to [`Ask::HeapHistogram`](crate::ask::Ask::HeapHistogram) and
//! [`Ask::HeapStrings`](crate::ask::Ask::HeapStrings).

use std::cmp::Ordering;

use memtrail_heap::query::{self, Row};
use memtrail_profile::calls::Pattern;
use serde_json::{Value, json};

use super::opened::{Opened, damaged};
use super::rows::Rows;
use crate::answer::Answer;
use crate::ask::{HeapHistogram, HeapStrings, KindSort};
use crate::names::shown;
use crate::refusal::Refusal;

/// Strings at most.
const MOST_STRINGS: usize = 1000;

pub(super) fn histogram(opened: &Opened, ask: &HeapHistogram) -> Result<Answer, Refusal> {
    let histogram = opened.histogram()?;
    let pattern = (!ask.find.is_empty()).then(|| Pattern::text(&ask.find));
    let mut rows: Vec<&Row> = histogram
        .rows
        .iter()
        .filter(|row| pattern.as_ref().is_none_or(|pattern| pattern.matches(&row.kind)))
        .collect();
    let order = |a: &Row, b: &Row| -> Ordering {
        match ask.sort {
            KindSort::Bytes => a.bytes.cmp(&b.bytes),
            KindSort::Blocks => a.blocks.cmp(&b.blocks),
            KindSort::Retained => a.retained.cmp(&b.retained),
            KindSort::External => a.external.cmp(&b.external),
            KindSort::Name => a.kind.cmp(&b.kind),
        }
    };
    rows.sort_by(|a, b| if ask.descending { order(b, a) } else { order(a, b) });
    let count = rows.len();
    let mut bounds = Rows::new(ask.limit);
    let told = bounds.affordable(&rows[ask.offset.min(count)..], |row| 160 + row.kind.len());
    let told: Vec<Value> = told
        .iter()
        .map(|row| {
            json!({
                "kind": row.kind,
                "blocks": row.blocks,
                "bytes": row.bytes,
                "external": row.external,
                "retained": row.retained,
                "example": opened.example(&row.kind),
            })
        })
        .collect();
    Ok(Answer::new(json!({
        "rows": told,
        "count": count,
        "blocks": histogram.blocks,
        "bytes": histogram.bytes,
        "external": histogram.rows.iter().map(|row| row.external).sum::<memtrail_heap::Bytes>(),
        "unreachable_blocks": histogram.unreachable_blocks,
        "unreachable_bytes": histogram.unreachable_bytes,
    })))
}

pub(super) fn strings(opened: &Opened, ask: &HeapStrings) -> Result<Answer, Refusal> {
    let most = ask.limit.min(MOST_STRINGS);
    let strings = query::strings(opened.heap(), most).map_err(damaged)?;
    let strings = strings.map(|mut strings| {
        for duplicate in &mut strings.duplicates {
            duplicate.start = shown(&duplicate.start);
        }
        strings
    });
    Ok(Answer::new(json!({ "strings": strings })))
}
