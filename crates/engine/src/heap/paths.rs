//! The answer to [`HeapPath`], and retaining paths in other responses.

use memtrail_heap::graph::Node;
use memtrail_heap::query::{self, AllocatedBy, FoldedContainer, Path, Step};
use memtrail_heap::{BlockIndex, Bytes};
use serde::Serialize;

use super::allocated::Allocated;
use super::loaded::{LoadedSnapshot, damaged};
use super::node;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::names::shown;
use crate::query::{HeapPath, PathForm};

/// Blocks of a kind whose paths are looked at.
const LOOKED_AT: usize = 1000;
/// Maximum number of steps of a path.
const MAX_STEPS: usize = 500;
/// Maximum number of disjoint paths.
const MAX_DISJOINT: usize = 20;
/// Maximum number of paths.
const MAX_PATHS: usize = 100;

/// Retaining paths of a block, or of the blocks of a kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct PathResponse {
    /// As many as the query allows.
    pub paths: Vec<PathRow>,
    /// How many there are.
    pub count: usize,
    /// Of disjoint paths, whether there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
    /// Of a kind, how many of its blocks were looked at …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<usize>,
    /// … of how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
}

/// A retaining path, or several of the same shape.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct PathRow {
    /// From the root to the block.
    pub steps: Vec<PathStep>,
    /// How many blocks are retained this way.
    pub blocks: u64,
    /// Bytes that would be freed without them.
    pub retained: Bytes,
    /// One of several blocks, whose path this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<BlockIndex>,
}

/// A block or root on a path, or several alike that follow each other.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PathStep {
    /// Its kind, or the variable's name.
    pub name: String,
    /// The variable's type, if it is one and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub position: Option<String>,
    /// What queries call it; none where steps are left out.
    pub node: Option<String>,
    /// The block, if it is one.
    pub block: Option<BlockIndex>,
    /// The field that leads on.
    pub field: Option<u64>,
    /// What that field is called, if the block's type is known: `.data`, `.(17)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub field_name: Option<String>,
    /// How many there are.
    pub times: u64,
    /// Whether all paths lead through it.
    pub dominates: bool,
    /// Bytes that would be freed without it.
    pub retained: Option<Bytes>,
    /// What allocated most blocks in the same place, if it has no type and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub allocated: Option<AllocatedBy>,
    /// The container that it is all steps in, unless these are shown one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub container: Option<FoldedContainer>,
}

/// The steps of a path, from the root to the block. Those in the middle of a very long one are left
/// out and counted.
pub(super) fn steps(loaded: &LoadedSnapshot, path: &Path) -> Vec<PathStep> {
    let steps = path.steps.iter().map(|step| of_step(loaded, step));
    let Some(left_out) = path.steps.len().checked_sub(MAX_STEPS).filter(|count| *count > 0) else {
        return steps.collect();
    };
    let gap = PathStep {
        name: format!("{left_out} steps"),
        r#type: None,
        position: None,
        node: None,
        block: None,
        field: None,
        field_name: None,
        times: left_out as u64,
        dominates: false,
        retained: None,
        allocated: None,
        container: None,
    };
    let first = steps.clone().take(MAX_STEPS / 2);
    first.chain([gap]).chain(steps.skip(MAX_STEPS / 2 + left_out)).collect()
}

fn of_step(loaded: &LoadedSnapshot, step: &Step) -> PathStep {
    let node = step.block.map(Node::Block).or(step.root.map(Node::RootNode));
    PathStep {
        name: shown(&step.name),
        r#type: step.r#type.as_deref().map(shown),
        position: step.position.as_deref().map(shown),
        node: node.map(|node| node::text(loaded, node)),
        block: step.block,
        field: step.field,
        field_name: step.field_name.as_deref().map(shown),
        times: step.times,
        dominates: step.dominates,
        retained: step.retained,
        allocated: step.allocated.clone(),
        container: step.container,
    }
}

pub(super) fn path(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    query: &HeapPath,
) -> Result<PathResponse, ApiError> {
    let limit = query.limit.min(MAX_PATHS);
    match (query.block, &query.kind) {
        (Some(block), _) if query.how == PathForm::Disjoint => {
            disjoint(loaded, allocated, BlockIndex(block), limit, query.unfolded)
        }
        (Some(block), _) => to_block(loaded, allocated, BlockIndex(block), query.unfolded),
        (None, Some(kind)) => to_kind(loaded, allocated, kind, limit, query.unfolded),
        (None, None) => Err(ApiError::bad("a path to nothing: neither block nor kind is given")),
    }
}

/// Paths to a block that share no other.
fn disjoint(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    block: BlockIndex,
    limit: usize,
    unfolded: bool,
) -> Result<PathResponse, ApiError> {
    loaded.check(block)?;
    let most = limit.clamp(1, MAX_DISJOINT);
    let mut found = query::disjoint_paths(loaded.heap(), block, most).map_err(damaged)?;
    if !unfolded {
        loaded.fold(&mut found.paths)?;
    }
    for path in &mut found.paths {
        path.name_steps(allocated.of_blocks(loaded));
    }
    Ok(PathResponse { all: Some(found.all), ..of_block(loaded, block, &found.paths) })
}

fn to_block(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    block: BlockIndex,
    unfolded: bool,
) -> Result<PathResponse, ApiError> {
    loaded.check(block)?;
    let path = named_path(loaded, allocated, block, unfolded)?;
    Ok(of_block(loaded, block, path.as_slice()))
}

/// The retaining path of a block, with all that is known of its steps.
pub(super) fn named_path(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    block: BlockIndex,
    unfolded: bool,
) -> Result<Option<Path>, ApiError> {
    let mut path = query::path(loaded.heap(), block).map_err(damaged)?;
    if !unfolded {
        loaded.fold(path.as_mut_slice())?;
    }
    if let Some(path) = &mut path {
        path.name_steps(allocated.of_blocks(loaded));
    }
    Ok(path)
}

fn of_block(loaded: &LoadedSnapshot, block: BlockIndex, paths: &[Path]) -> PathResponse {
    let retained = loaded.catalogue.retained(loaded.heap(), block).bytes();
    let rows = paths.iter().map(|path| PathRow {
        steps: steps(loaded, path),
        blocks: 1,
        retained,
        example: None,
    });
    PathResponse { paths: rows.collect(), count: paths.len(), all: None, looked_at: None, of: None }
}

fn to_kind(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    kind: &str,
    limit: usize,
    unfolded: bool,
) -> Result<PathResponse, ApiError> {
    let heap = loaded.heap();
    let (there, some) = query::sample(heap, kind, LOOKED_AT).map_err(damaged)?;
    let equal: Vec<(BlockIndex, u64)> = some.iter().map(|block| (*block, 1)).collect();
    let structures = if unfolded { None } else { Some(loaded.structures()?) };
    let merged = query::weighted_paths(heap, &equal, structures).map_err(damaged)?;
    let mut bounds = Rows::new(limit);
    let shown = bounds.affordable(&merged, |path| {
        200 + path.shape.iter().map(|step| 120 + step.len()).sum::<usize>().min(100_000)
    });
    let mut paths = Vec::new();
    for path in shown {
        // One of them stands for all, with the numbers of its blocks.
        let example = named_path(loaded, allocated, path.example, unfolded)?;
        paths.push(PathRow {
            steps: example.map_or_else(Vec::new, |example| steps(loaded, &example)),
            blocks: path.blocks,
            retained: path.retained,
            example: Some(path.example),
        });
    }
    Ok(PathResponse {
        paths,
        count: merged.len(),
        all: None,
        looked_at: Some(some.len()),
        of: Some(there),
    })
}
