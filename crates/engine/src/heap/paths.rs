//! The answer to [`HeapPath`](crate::query::HeapPath), and ways in other answers.

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::Node;
use memtrail_heap::query::{self, Path};
use serde_json::{Value, json};

use super::loaded::{LoadedSnapshot, damaged};
use super::node;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{HeapPath, Ways};
use crate::response_body::ResponseBody;

/// Blocks of a kind whose ways are looked at.
const LOOKED_AT: usize = 1000;
/// Steps of a way that are told.
const MOST_STEPS: usize = 500;
/// Ways that share nothing, at most.
const MOST_DISJOINT: usize = 20;
/// Ways at most.
const MOST_WAYS: usize = 100;

/// The steps of a way, from the root to the block. Those in the middle of a very long one are left
/// out and counted.
pub(super) fn steps(loaded: &LoadedSnapshot, path: &Path) -> Vec<Value> {
    let count = path.steps.len();
    let mut told = Vec::new();
    for (place, step) in path.steps.iter().enumerate() {
        if count > MOST_STEPS && place == MOST_STEPS / 2 {
            told.push(json!({
                "name": format!("{} steps", count - MOST_STEPS),
                "node": null,
                "block": null,
                "field": null,
                "times": count - MOST_STEPS,
                "dominates": false,
                "retained": null,
            }));
        }
        if count > MOST_STEPS && (MOST_STEPS / 2..count - MOST_STEPS / 2).contains(&place) {
            continue;
        }
        let node = step.block.map(Node::Block).or(step.root.map(Node::RootNode));
        let node = node.map(|node| node::text(loaded, node));
        told.push(json!({
            "name": shown(&step.name),
            "node": node,
            "block": step.block,
            "field": step.field,
            "times": step.times,
            "dominates": step.dominates,
            "retained": step.retained,
        }));
    }
    told
}

pub(super) fn path(loaded: &LoadedSnapshot, ask: &HeapPath) -> Result<ResponseBody, ApiError> {
    let limit = ask.limit.min(MOST_WAYS);
    match (ask.block, &ask.kind) {
        (Some(block), _) if ask.how == Ways::Disjoint => disjoint(loaded, BlockIndex(block), limit),
        (Some(block), _) => to_block(loaded, BlockIndex(block)),
        (None, Some(kind)) => to_kind(loaded, kind, limit),
        (None, None) => Err(ApiError::bad("a way to nothing: neither a block nor a kind is given")),
    }
}

/// Ways to a block that share no other.
fn disjoint(
    loaded: &LoadedSnapshot,
    block: BlockIndex,
    limit: usize,
) -> Result<ResponseBody, ApiError> {
    loaded.check(block)?;
    let most = limit.clamp(1, MOST_DISJOINT);
    let ways = query::disjoint_paths(loaded.heap(), block, most).map_err(damaged)?;
    let retained = loaded.catalogue.retained(loaded.heap(), block).bytes();
    let paths: Vec<Value> = ways
        .paths
        .iter()
        .map(|path| json!({ "steps": steps(loaded, path), "blocks": 1, "retained": retained }))
        .collect();
    Ok(ResponseBody::new(json!({ "count": paths.len(), "all": ways.all, "paths": paths })))
}

fn to_block(loaded: &LoadedSnapshot, block: BlockIndex) -> Result<ResponseBody, ApiError> {
    loaded.check(block)?;
    let path = query::path(loaded.heap(), block).map_err(damaged)?;
    let retained = loaded.catalogue.retained(loaded.heap(), block).bytes();
    let paths: Vec<Value> = path
        .iter()
        .map(|path| json!({ "steps": steps(loaded, path), "blocks": 1, "retained": retained }))
        .collect();
    Ok(ResponseBody::new(json!({ "count": paths.len(), "paths": paths })))
}

fn to_kind(loaded: &LoadedSnapshot, kind: &str, limit: usize) -> Result<ResponseBody, ApiError> {
    let heap = loaded.heap();
    let (there, some) = query::sample(heap, kind, LOOKED_AT).map_err(damaged)?;
    let merged = query::merged_paths(heap, &some).map_err(damaged)?;
    let mut rows = Rows::new(limit);
    let told = rows.affordable(&merged, |path| {
        200 + path.shape.iter().map(|step| 120 + step.len()).sum::<usize>().min(100_000)
    });
    let mut paths = Vec::new();
    for path in told {
        // One of them stands for all, with the numbers of its blocks.
        let example = query::path(heap, path.example).map_err(damaged)?;
        paths.push(json!({
            "steps": example.map_or_else(Vec::new, |example| steps(loaded, &example)),
            "blocks": path.blocks,
            "retained": path.retained,
            "example": path.example,
        }));
    }
    Ok(ResponseBody::new(json!({
        "paths": paths,
        "count": merged.len(),
        "looked_at": some.len(),
        "of": there,
    })))
}
