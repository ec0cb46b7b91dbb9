//! What becomes of sampled blocks: they are written into the recording.

use memtrail_sampler::{Allocation, Bytes, Tracker};
use memtrail_trace::BlockId;

use crate::native::children::current;

/// Writes the blocks of the process that the recording is of.
pub(super) struct BlockWriter;

/// A block of a recording: forked children know those of their parent's recording, too.
pub(super) struct Block {
    pub(super) id: BlockId,
    pub(super) epoch: u32,
    pub(super) size: Bytes,
}

impl Tracker for BlockWriter {
    type Data = Block;

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<Block> {
        let recording = current()?;
        let id = recording.stream()?.alloc(allocation)?;
        Some(Block { id, epoch: recording.epoch, size: allocation.size() })
    }

    fn freed(&self, block: Block) {
        if let Some(recording) = current().filter(|recording| recording.epoch == block.epoch)
            && let Some(mut stream) = recording.stream()
        {
            stream.collect(block.id);
        }
    }
}
