//! Queued events.

use memtrail_trace::Timestamp;

/// Allocation or end of a sampled block. Blocks are numbered as they are queued.
#[derive(Debug)]
pub(super) enum Event {
    /// It was allocated, with this many bytes and samples, and the next frames of the queue.
    Allocated { at: Timestamp, size: u64, samples: u64, frames: usize },
    /// It was freed.
    Freed { at: Timestamp, block: u64 },
}

/// Events in their order.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    /// Return addresses of all callstacks and codes of their labels, each with the innermost first.
    pub(super) frames: Vec<u64>,
    /// Codes of labels that are new, with their texts.
    pub(super) labels: Vec<(u64, String)>,
}
