//! Blocks of OCaml's heap that refer to memory from `malloc`, with what the heap snapshot of the same copy has of them.

use std::collections::HashMap;
use std::rc::Rc;

use memtrail_heap::BlockIndex;
use memtrail_heap::query;
use memtrail_references::{HeapBlock, Place, References};

use crate::api_error::ApiError;
use crate::heap::loaded::{LoadedSnapshot, damaged};
use crate::names::shown;

/// Blocks whose paths are looked at, at most: some of all, evenly.
const MAX_PATHS: usize = 4000;

/// The references, with what of OCaml's heap is garbage.
pub(crate) fn with_garbage(references: &References, loaded: &LoadedSnapshot) -> References {
    let mut references = references.clone();
    let graph = &loaded.heap().graph;
    for root in &mut references.roots {
        if let Place::Heap { block, is_garbage, .. } = &mut root.place {
            *is_garbage = !graph.is_reachable(BlockIndex(block.0));
        }
    }
    references
}

/// How blocks of OCaml's heap are retained: names from a root down to the block.
pub(super) struct HeapValues<'l> {
    loaded: Option<&'l LoadedSnapshot>,
    paths: HashMap<HeapBlock, Rc<[String]>>,
}

impl<'l> HeapValues<'l> {
    /// A program without a heap snapshot has none.
    pub(super) fn unknown() -> Self {
        Self { loaded: None, paths: HashMap::new() }
    }

    /// Those of some blocks.
    pub(super) fn new(
        loaded: Option<&'l LoadedSnapshot>,
        mut wanted: Vec<HeapBlock>,
    ) -> Result<Self, ApiError> {
        let mut paths = HashMap::new();
        if let Some(loaded) = loaded {
            wanted.sort_unstable();
            wanted.dedup();
            let every = wanted.len().div_ceil(MAX_PATHS).max(1);
            let some: Vec<HeapBlock> = wanted.into_iter().step_by(every).collect();
            let weighted: Vec<(BlockIndex, u64)> =
                some.iter().map(|block| (BlockIndex(block.0), 1)).collect();
            let structures = Some(loaded.structures()?);
            let merged =
                query::weighted_paths(loaded.heap(), &weighted, structures).map_err(damaged)?;
            for path in merged {
                let steps: Rc<[String]> = path.shape.iter().map(|step| shown(step)).collect();
                let members = path.members.iter().filter_map(|at| some.get(*at as usize));
                paths.extend(members.map(|block| (*block, Rc::clone(&steps))));
            }
        }
        Ok(Self { loaded, paths })
    }

    /// The steps to a block.
    pub(super) fn steps(&self, block: HeapBlock, is_garbage: bool) -> Vec<String> {
        let mut steps = self.paths.get(&block).map_or_else(Vec::new, |steps| steps.to_vec());
        if steps.is_empty() {
            let kind = self.loaded.map_or_else(
                || "value".to_owned(),
                |LoadedSnapshot { catalogue, .. }| {
                    shown(catalogue.name(catalogue.kind(BlockIndex(block.0))))
                },
            );
            let what = if is_garbage { "garbage of OCaml's heap" } else { "OCaml's heap" };
            steps = vec![format!("{what}: {kind}")];
        }
        steps
    }
}
