//! The program's mappings as blocks: which parts of the address space are of sampled ones.
//!
//! A mapping may be unmapped in parts. Then its block is freed, and what is left of it is allocated, by the same
//! callstack: of its samples those stay that are drawn for what is left.

use std::collections::BTreeMap;
use std::ops::Range;

use memtrail_sampler::draw::Draws;
use memtrail_sampler::{Address, Bytes, Rate, Samples};
use memtrail_trace::{BlockId, Source};

use crate::native::stream::Stream;
use crate::os::lock::Lock;
use crate::recording::room::Kept;

const PAGE: usize = 4096;

/// A part of the address space.
#[derive(Clone, Debug)]
pub struct Mapping(pub(super) Range<usize>);

impl Mapping {
    /// So many bytes, rounded up to pages.
    pub fn new(start: usize, length: usize) -> Self {
        let length = length.checked_next_multiple_of(PAGE).unwrap_or(length);
        Self(start..start.saturating_add(length))
    }
}

/// A sampled mapping, or what is left of one.
struct Sampled {
    end: usize,
    id: BlockId,
    kept: Kept,
    callstack: Box<[Address]>,
}

/// All sampled mappings of a recording, by where they begin.
pub(super) struct Mappings {
    sampled: BTreeMap<usize, Sampled>,
    draws: Draws,
}

impl Mappings {
    pub(super) fn new(rate: Rate, seed: u64) -> Lock<Self> {
        Lock::new(Self { sampled: BTreeMap::new(), draws: Draws::new(rate, !seed) })
    }

    /// Where the mappings begin that overlap with a part.
    pub(super) fn overlapping(&self, part: &Mapping) -> impl Iterator<Item = usize> {
        let start = part.0.start;
        let before = self.sampled.range(..part.0.end).rev();
        before.take_while(move |(_, found)| found.end > start).map(|(&start, _)| start)
    }

    /// Notes a sampled mapping.
    pub(super) fn note(
        &mut self,
        mapping: &Mapping,
        id: BlockId,
        kept: Kept,
        callstack: &[Address],
    ) {
        let Range { start, end } = mapping.0;
        self.sampled.insert(start, Sampled { end, id, kept, callstack: callstack.into() });
    }

    /// A part has no mapping any more.
    pub(super) fn unmap(&mut self, stream: &mut Stream, part: &Mapping) {
        let overlapping: Vec<usize> = self.overlapping(part).collect();
        for start in overlapping {
            let Some(found) = self.sampled.remove(&start) else { continue };
            stream.collect(found.id);
            let (mut of, mut samples) = (found.end - start, Samples(found.kept.samples));
            for left in [start..part.0.start.max(start), part.0.end.min(found.end)..found.end] {
                let size = Bytes(left.len() as u64);
                let own = self.draws.samples_of_part(samples, size, Bytes(of as u64));
                (of, samples) = (of - left.len(), Samples(samples.0 - own.0));
                let callstack = &found.callstack;
                let kept = Kept { samples: own.0, ..found.kept };
                if own.0 > 0
                    && let Some(id) = stream.block(callstack, size, kept, Source::External)
                {
                    let (callstack, end) = (callstack.clone(), left.end);
                    self.sampled.insert(left.start, Sampled { end, id, kept, callstack });
                }
            }
        }
    }
}
