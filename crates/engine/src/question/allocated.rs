//! Names blocks without a type by what allocated most of the blocks in the same place of the heap.

use std::collections::HashMap;

use memtrail_heap::BlockIndex;
use memtrail_heap::query::{AllocatedBy, JointShare, MergedPath, Path};

use super::unanswered::Unanswered;
use super::view::View;

/// Names the steps of paths.
pub(super) fn name_steps(view: &View<'_>, paths: &mut [Path]) -> Result<(), Unanswered> {
    let steps = || paths.iter().flat_map(|path| &path.steps);
    let known = of_blocks(view, steps().filter_map(|step| step.block))?;
    for path in paths {
        path.name_steps(|block| known.get(&block).cloned());
    }
    Ok(())
}

/// Names the steps of merged paths.
pub(super) fn name_merged(view: &View<'_>, paths: &mut [MergedPath]) -> Result<(), Unanswered> {
    let known = of_blocks(view, paths.iter().flat_map(MergedPath::blocks_of_steps))?;
    for path in paths {
        path.name_steps(|block| known.get(&block).cloned());
    }
    Ok(())
}

/// Names blocks that several roots retain jointly.
pub(super) fn name_joint(view: &View<'_>, shares: &mut [JointShare]) -> Result<(), Unanswered> {
    let blocks = || shares.iter().flat_map(|share| &share.blocks);
    let known = of_blocks(view, blocks().map(|block| block.block))?;
    for block in shares.iter_mut().flat_map(|share| &mut share.blocks) {
        block.allocated = known.get(&block.block).cloned();
    }
    Ok(())
}

fn of_blocks(
    view: &View<'_>,
    blocks: impl Iterator<Item = BlockIndex>,
) -> Result<HashMap<BlockIndex, AllocatedBy>, Unanswered> {
    let heap = view.heap;
    let untyped: Vec<BlockIndex> = blocks.filter(|block| heap.types.of(*block).is_none()).collect();
    if untyped.is_empty() {
        return Ok(HashMap::new());
    }
    let known = view.with_trace(|trace, catalogue| {
        trace.engine.allocated_blocks(trace.id, heap, catalogue, &untyped)
    })?;
    Ok(known.unwrap_or_default())
}
