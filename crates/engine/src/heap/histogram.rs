//! The answers to [`HeapHistogram`](crate::query::HeapHistogram) and
//! [`HeapStrings`](crate::query::HeapStrings).

use std::cmp::Ordering;

use memtrail_heap::graph::{Node, SUPER_ROOT};
use memtrail_heap::query::{Duplicate, Row, ShapeId};
use memtrail_profile::calls::Pattern;
use serde_json::{Value, json};

use super::loaded::LoadedSnapshot;
use super::node::{self, Place};
use super::rows::{Rows, share};
use crate::api_error::ApiError;
use crate::query::{HeapHistogram, HeapStrings, KindSort, StringSort};
use crate::response_body::ResponseBody;

pub(super) fn histogram(
    loaded: &LoadedSnapshot,
    ask: &HeapHistogram,
) -> Result<ResponseBody, ApiError> {
    let histogram = loaded.histogram()?;
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
            let most = loaded.most_of(&row.kind);
            json!({
                "kind": row.kind,
                "blocks": row.blocks,
                "bytes": row.bytes,
                "share": share(row.bytes.0, histogram.bytes.0),
                "external": row.external,
                "retained": row.retained,
                "example": most.map(|most| most.example),
                "most": most.and_then(|most| most.shape).map(|shape| group(loaded, shape)),
            })
        })
        .collect();
    Ok(ResponseBody::new(json!({
        "rows": told,
        "count": count,
        "blocks": histogram.blocks,
        "bytes": histogram.bytes,
        "external": histogram.rows.iter().map(|row| row.external).sum::<memtrail_heap::Bytes>(),
        "unreachable_blocks": histogram.unreachable_blocks,
        "unreachable_bytes": histogram.unreachable_bytes,
    })))
}

/// The place where most of a kind is: what hangs there of it.
fn group(loaded: &LoadedSnapshot, shape: ShapeId) -> Value {
    let shapes = loaded.shapes.clone();
    let of_kind = *shapes.get(shape);
    let place = Place { shape, shapes, node: Node::RootNode(SUPER_ROOT), kinds: Vec::new() };
    json!({
        "node": node::shape_text(loaded, &place, shape),
        "bytes": of_kind.own.bytes(),
        "blocks": of_kind.blocks,
    })
}

pub(super) fn strings(
    loaded: &LoadedSnapshot,
    ask: &HeapStrings,
) -> Result<ResponseBody, ApiError> {
    let Some(strings) = loaded.strings()? else {
        return Ok(ResponseBody::new(json!({ "strings": null, "rows": [], "count": 0 })));
    };
    let pattern = (!ask.find.is_empty()).then(|| Pattern::text(&ask.find));
    let mut rows: Vec<&Duplicate> = strings
        .duplicates
        .iter()
        .filter(|row| pattern.as_ref().is_none_or(|pattern| pattern.matches(&row.start)))
        .collect();
    // They come with the most wasteful first.
    match ask.sort {
        StringSort::Wasted => rows.reverse(),
        StringSort::Times => rows.sort_by_key(|row| row.times),
        StringSort::Length => rows.sort_by_key(|row| row.length),
        StringSort::Name => rows.sort_by(|a, b| a.start.cmp(&b.start)),
    }
    if ask.descending {
        rows.reverse();
    }
    let count = rows.len();
    let mut bounds = Rows::new(ask.limit);
    let told = bounds.affordable(&rows[ask.offset.min(count)..], |row| 160 + row.start.len());
    let told: Vec<Value> = told
        .iter()
        .map(|row| {
            json!({
                "start": row.start,
                "cut": row.cut,
                "length": row.length,
                "times": row.times,
                "wasted": row.wasted,
                "share": share(row.wasted.0, strings.bytes.0),
                "example": row.example,
            })
        })
        .collect();
    let sums = json!({
        "strings": strings.strings,
        "bytes": strings.bytes,
        "contents": strings.contents,
        "wasted": strings.wasted,
        "repeated": strings.repeated,
        "kept": strings.duplicates.len(),
    });
    Ok(ResponseBody::new(json!({ "strings": sums, "rows": told, "count": count })))
}
