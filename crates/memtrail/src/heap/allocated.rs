//! What allocated the blocks of a snapshot that have no type, from the trace beside it.

use std::collections::HashMap;

use memtrail_engine::ApiError;
use memtrail_engine::question::Host as _;
use memtrail_heap::BlockIndex;
use memtrail_heap::query::{AllocatedBy, Catalogue, Heap, JointShare, MergedPath, Path};

use super::input::Input;
use crate::error::Failure;
use crate::loading;
use crate::spinner::with_spinner;

/// What `ask` makes of the kinds of all blocks.
fn answer<T>(
    input: &Input,
    heap: &Heap<'_>,
    ask: impl FnOnce(&Catalogue) -> Result<T, ApiError>,
) -> Result<T, Failure> {
    let answer = with_spinner("looking at sampled blocks".to_owned(), || {
        input.give_back(heap);
        let catalogue = Catalogue::new(heap)?;
        // It has what is asked of the snapshot, and little of the graph is.
        input.give_back(heap);
        Ok(ask(&catalogue))
    });
    let answer = answer.map_err(|error| input.failure(&error))?;
    answer.map_err(|error| loading::refused(&error))
}

/// Adds to the steps of paths that are blocks without a type what allocated most blocks in the same place.
pub(super) fn name_steps(
    paths: &mut [Path],
    input: &Input,
    heap: &Heap<'_>,
) -> Result<(), Failure> {
    let steps = || paths.iter().flat_map(|path| &path.steps);
    let known = of_blocks(steps().filter_map(|step| step.block), input, heap)?;
    for path in paths {
        path.name_steps(|block| known.get(&block).cloned());
    }
    Ok(())
}

/// The same for the steps of merged paths.
pub(super) fn name_merged(
    paths: &mut [MergedPath],
    input: &Input,
    heap: &Heap<'_>,
) -> Result<(), Failure> {
    let known = of_blocks(paths.iter().flat_map(MergedPath::blocks_of_steps), input, heap)?;
    for path in paths {
        path.name_steps(|block| known.get(&block).cloned());
    }
    Ok(())
}

/// The same for blocks that several roots retain jointly.
pub(super) fn name_joint(
    shares: &mut [JointShare],
    input: &Input,
    heap: &Heap<'_>,
) -> Result<(), Failure> {
    let blocks = || shares.iter().flat_map(|share| &share.blocks);
    let known = of_blocks(blocks().map(|block| block.block), input, heap)?;
    for block in shares.iter_mut().flat_map(|share| &mut share.blocks) {
        block.allocated = known.get(&block.block).cloned();
    }
    Ok(())
}

/// What allocated most blocks that are where these are, of those that have no type.
fn of_blocks(
    blocks: impl Iterator<Item = BlockIndex>,
    input: &Input,
    heap: &Heap<'_>,
) -> Result<HashMap<BlockIndex, AllocatedBy>, Failure> {
    let untyped: Vec<BlockIndex> = blocks.filter(|block| heap.types.of(*block).is_none()).collect();
    if untyped.is_empty() {
        return Ok(HashMap::new());
    }
    let Some(trace) = input.trace(heap) else { return Ok(HashMap::new()) };
    answer(input, heap, |catalogue| {
        trace.engine.allocated_blocks(trace.id, heap, catalogue, &untyped)
    })
}
