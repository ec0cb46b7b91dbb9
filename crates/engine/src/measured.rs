//! Answers [`ProcessQuery`](crate::query::Process).

use memtrail_profile::malloc_use::MallocBlocks;

use crate::process::{ProcessResponse, ResidentMemory};
use crate::recording::Recording;

/// What was measured of a recording's process, and what its samples say of that.
pub(crate) fn measured(recording: &Recording) -> ProcessResponse {
    let description = &recording.description;
    let ProcessResponse { memory, collections } = description.process.clone();
    let blocks = if description.is_native {
        Some(MallocBlocks::All)
    } else {
        description.has_malloc.then_some(MallocBlocks::BesideHeap)
    };
    let with_samples = |memory: ResidentMemory| match blocks {
        Some(blocks) => memory.with_samples(recording.profile(), blocks),
        None => memory,
    };
    ProcessResponse { memory: memory.map(with_samples), collections }
}
