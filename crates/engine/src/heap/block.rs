//! The answer to [`HeapBlock`](crate::query::HeapBlock).

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::Node;
use memtrail_heap::query;
use serde_json::{Value, json};

use super::loaded::{LoadedSnapshot, damaged};
use super::node::{self, Place};
use super::{paths, tree};
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::HeapBlock;
use crate::response_body::ResponseBody;

/// References of each direction that are told.
const MOST: usize = 200;

/// What is known of a block; `sample` is where it was allocated.
pub(super) fn block(
    loaded: &LoadedSnapshot,
    ask: &HeapBlock,
    sample: &Value,
) -> Result<ResponseBody, ApiError> {
    let heap = loaded.heap();
    let index = BlockIndex(ask.block);
    let facts = query::block(heap, index, MOST).map_err(damaged)?;
    let Some(facts) = facts else { return Err(loaded.no_block(index)) };
    let (referrer_count, referrers) = query::referrers(heap, index, MOST).map_err(damaged)?;
    let retained = |block| loaded.catalogue.retained(heap, block).bytes();
    let kind = |block| node::name(loaded, Node::Block(block));
    let references: Vec<Value> = facts
        .references
        .iter()
        .map(|reference| {
            json!({
                "field": reference.field,
                "block": reference.to,
                "kind": kind(reference.to),
                "retained": retained(reference.to),
                "weak": reference.weak,
            })
        })
        .collect();
    let referrers: Vec<Value> = referrers
        .iter()
        .map(|referrer| {
            let mut told = node::info(loaded, referrer.from);
            told["block"] = match referrer.from {
                Node::Block(block) => json!(block),
                Node::RootNode(_) => Value::Null,
            };
            told["field"] = json!(referrer.field);
            told["weak"] = json!(referrer.weak);
            told
        })
        .collect();
    let path = query::path(heap, index).map_err(damaged)?;
    let shapes = loaded.below(index);
    let place = Place { shape: shapes.root(), shapes, node: Node::Block(index), kinds: Vec::new() };
    let (count, rows) = tree::dominated(loaded, &place, MOST);
    let below = (0..place.shapes.len() as u32)
        .map(|shape| place.shapes.get(query::ShapeId(shape)).blocks)
        .sum::<u64>();
    let text = loaded.text(index)?;
    Ok(ResponseBody::new(json!({
        "block": index,
        "node": node::text(loaded, Node::Block(index)),
        "kind": shown(&facts.kind),
        "address": format!("0x{:x}", facts.address.0),
        "size": facts.size.bytes(),
        "external": facts.external,
        "retained": retained(index),
        "retained_external": heap.graph.external(index),
        "blocks": below,
        "space": facts.space.name(),
        "reachable": heap.graph.is_reachable(index),
        "text": text.as_ref().map(|text| &text.start),
        "text_length": text.as_ref().map(|text| text.length),
        "text_is_cut": text.map(|text| text.is_cut),
        "path": path.as_ref().map_or_else(Vec::new, |path| paths::steps(loaded, path)),
        "ways": null,
        "references": { "count": facts.reference_count, "rows": references },
        "referenced_by": { "count": referrer_count, "rows": referrers },
        "dominates": { "count": count, "rows": rows },
        "dominator": heap.graph.dominator(Node::Block(index)).map(|node| node::info(loaded, node)),
        "sample": sample,
    })))
}
