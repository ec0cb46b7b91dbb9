//! What becomes of sampled blocks: they are written into the recording.

use memtrail_sampler::{Allocation, Bytes, Tracker};
use memtrail_trace::BlockId;

use crate::malloc::state::current;

/// Writes the blocks of the process that is recorded.
pub(super) struct BlockWriter;

/// A block of a recording: forked children know those of their parent's recording, too.
pub(super) struct Block {
    pub(super) id: BlockId,
    pub(super) epoch: u8,
    pub(super) size: Bytes,
}

impl Tracker for BlockWriter {
    type Data = Block;

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<Block> {
        let state = current()?;
        let id = state.alloc(allocation)?;
        Some(Block { id, epoch: state.epoch(), size: allocation.size() })
    }

    fn freed(&self, block: Block) {
        if let Some(state) = current().filter(|state| state.epoch() == block.epoch) {
            state.collect(block.id);
        }
    }
}
