//! All ways from the roots to a block that have nothing in common.

use serde::Serialize;

use super::heap::Heap;
use super::path::{Path, RetainingPath, details_of, path};
use crate::read::Error;
use crate::units::BlockIndex;

/// Ways to a block that share no other block.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DisjointPaths {
    /// The ways.
    pub paths: Vec<Path>,
    /// Whether there are no more: so many links have to be cut for the block to be freed.
    pub all: bool,
}

/// As many ways to a block as there are, but at most `most`, that share no block but itself. None if
/// nothing keeps it alive. The first is not always the one that [`super::path()`] gives.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn disjoint_paths(
    heap: &Heap<'_>,
    block: BlockIndex,
    most: usize,
) -> Result<DisjointPaths, Error> {
    let graph = &heap.graph;
    let Some((edges, all)) = graph.disjoint(&heap.snapshot, block, most, heap.threads)? else {
        return Ok(DisjointPaths { paths: path(heap, block)?.into_iter().collect(), all: true });
    };
    let paths: Vec<RetainingPath> =
        edges.iter().map(|edges| RetainingPath::new(heap, graph.along(block, edges))).collect();
    let details = details_of(heap, &paths)?;
    let mut paths: Vec<Path> =
        paths.iter().map(|path| Path::new(heap, block, path, &details)).collect();
    paths.sort_by_key(|path| path.steps.iter().map(|step| step.times).sum::<u64>());
    Ok(DisjointPaths { paths, all })
}
