//! Puts blocks together from their events.
//!
//! Events of one domain come in the order of time, but domains are not merged, and in version 3 of
//! the format, a collection may come before the allocation it ends. A damaged trace
//! may tell anything: what makes no sense is left out and counted.

use memtrail_trace::rates::RateChanges;
use memtrail_trace::{Alloc, BlockId, Event, Mark, Timestamp};
use rustc_hash::FxHashMap;

use crate::blocks::{Block, Blocks, Row};
use crate::ids::Ids;
use crate::live_series::LiveSeries;
use crate::threads::{ThreadLog, Threads};
use crate::time::Elapsed;

/// Events that contradict others, by kind. All are 0 in an undamaged trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inconsistencies {
    /// Allocations of a block that had been allocated before; the second is left out.
    pub allocated_twice: u64,
    /// Promotions and collections of a block whose allocation is not in the trace; left out.
    pub unknown_block: u64,
    /// Promotions of a block that had been promoted or collected before; left out.
    pub promoted_twice: u64,
    /// Collections of a block that had been collected before; left out.
    pub collected_twice: u64,
    /// Promotions and collections earlier than the block's allocation; taken for as late.
    pub before_allocation: u64,
    /// Blocks beyond the number that row numbers can count; left out.
    pub too_many: u64,
}

impl Inconsistencies {
    /// How many there are.
    pub fn total(&self) -> u64 {
        let Self {
            allocated_twice,
            unknown_block,
            promoted_twice,
            collected_twice,
            before_allocation,
            too_many,
        } = *self;
        allocated_twice
            + unknown_block
            + promoted_twice
            + collected_twice
            + before_allocation
            + too_many
    }
}

/// Makes [`Blocks`] from events in the order of the trace.
#[derive(Debug)]
pub struct ProfileBuilder {
    start: Timestamp,
    blocks: Blocks,
    live_series: LiveSeries,
    ids: Ids,
    /// Samples so far: all of them together can be counted, so any of them can.
    samples: u64,
    /// Ends of blocks that are not there yet.
    early: FxHashMap<BlockId, Early>,
    threads: Option<Threads>,
    rates: RateChanges,
    /// Earlier events count as if they had happened at this time.
    earliest: Elapsed,
    end: Elapsed,
    inconsistent: Inconsistencies,
}

/// What events come to.
#[derive(Debug)]
pub struct Built {
    /// The blocks.
    pub blocks: Blocks,
    /// Live memory over time.
    pub live_series: LiveSeries,
    /// Whose blocks they are, if that is known.
    pub threads: Option<Threads>,
    /// Which block has which id.
    pub(crate) ids: Ids,
    /// The time of the last event.
    pub end: Elapsed,
    /// What made no sense.
    pub inconsistent: Inconsistencies,
}

#[derive(Debug, Default)]
struct Early {
    promoted: Option<Elapsed>,
    collected: Option<Elapsed>,
}

impl ProfileBuilder {
    /// Nothing yet. Times count from `start`.
    pub fn new(start: Timestamp) -> Self {
        Self {
            start,
            blocks: Blocks::default(),
            live_series: LiveSeries::default(),
            samples: 0,
            ids: Ids::default(),
            early: FxHashMap::default(),
            threads: None,
            rates: RateChanges::default(),
            earliest: Elapsed(0),
            end: Elapsed(0),
            inconsistent: Inconsistencies::default(),
        }
    }

    /// Which thread the blocks to come are of. What was said before is part of it.
    pub fn threads(&mut self, log: ThreadLog) {
        let rows = self.blocks.len();
        self.threads.get_or_insert_with(|| Threads::after(rows)).learn(log);
    }

    /// At which rate the blocks to come were sampled. What was said before is part of it.
    pub fn rates(&mut self, changes: RateChanges) {
        self.rates = changes;
    }

    /// Takes an event of a trace.
    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Alloc(alloc) => {
                let Alloc { id, length, samples, source, stack, domain, .. } = alloc;
                let time = self.elapsed(alloc.time);
                // The packets of a thinned history tell their rate.
                self.blocks.note_thinned(alloc.halvings.map(|_| time));
                let block = Block { time, length, samples, source, stack, domain };
                self.alloc_at_rate(id, &block, self.rates.of(&alloc));
            }
            Event::Promote(Mark { time, id, .. }) => self.promote(id, self.elapsed(time)),
            Event::Collect(Mark { time, id, .. }) => self.collect(id, self.elapsed(time)),
        }
    }

    /// A block was allocated.
    pub fn alloc(&mut self, id: BlockId, block: &Block) {
        self.alloc_at_rate(id, block, self.rates.halvings(block.domain, id));
    }

    fn alloc_at_rate(&mut self, id: BlockId, block: &Block, halvings: u8) {
        self.end = self.end.max(block.time);
        if self.blocks.len() >= Blocks::MAX_BLOCKS {
            self.inconsistent.too_many += 1;
        } else if self.ids.insert(id, Row(self.blocks.len() as u32)) {
            let samples = block.samples.min(i64::MAX as u64 - self.samples);
            self.samples += samples;
            self.live_series.allocated(block.time, samples, block.source);
            self.blocks.push(&Block { samples, ..*block });
            self.blocks.set_halvings_of_last(halvings);
            if let Some(threads) = &mut self.threads {
                threads.push(block.domain, id);
            }
        } else {
            self.inconsistent.allocated_twice += 1;
        }
    }

    /// A block moved to the major heap.
    pub fn promote(&mut self, id: BlockId, time: Elapsed) {
        self.end = self.end.max(time);
        match self.ids.row(id) {
            Some(row) => self.promote_row(row, time),
            None => match &mut self.early.entry(id).or_default().promoted {
                free @ None => *free = Some(time),
                Some(_) => self.inconsistent.promoted_twice += 1,
            },
        }
    }

    /// A block was found dead.
    pub fn collect(&mut self, id: BlockId, time: Elapsed) {
        self.end = self.end.max(time);
        match self.ids.row(id) {
            Some(row) => self.collect_row(row, time),
            None => match &mut self.early.entry(id).or_default().collected {
                free @ None => *free = Some(time),
                Some(_) => self.inconsistent.collected_twice += 1,
            },
        }
    }

    /// Puts in order what has come, when more will.
    pub(crate) fn settle(&mut self) {
        self.place_early();
        self.blocks.sort();
        self.live_series.settle(&self.blocks);
    }

    /// Moves later events that are earlier than a moment to it.
    pub(crate) fn not_before(&mut self, earliest: Elapsed) {
        self.earliest = earliest;
    }

    /// Gives up the ends before a moment whose blocks have not come: such a block may have been forgotten.
    pub(crate) fn forget(&mut self, before: Elapsed) {
        self.early.retain(|_, early| early.promoted.max(early.collected) >= Some(before));
    }

    /// Exchanges what is built, and gives the time of the last event and what made no sense.
    pub(crate) fn exchange(
        &mut self,
        blocks: &mut Blocks,
        live_series: &mut LiveSeries,
        threads: &mut Option<Threads>,
        ids: &mut Ids,
    ) -> (Elapsed, Inconsistencies) {
        std::mem::swap(&mut self.blocks, blocks);
        std::mem::swap(&mut self.live_series, live_series);
        std::mem::swap(&mut self.threads, threads);
        std::mem::swap(&mut self.ids, ids);
        (self.end, self.inconsistent)
    }

    /// Puts in order all that has come; there is no more.
    pub(crate) fn end(&mut self) {
        self.settle();
        for early in std::mem::take(&mut self.early).into_values() {
            self.inconsistent.unknown_block +=
                u64::from(early.promoted.is_some()) + u64::from(early.collected.is_some());
        }
        self.blocks.shrink();
    }

    /// Gives blocks that have come the ends that came before them.
    fn place_early(&mut self) {
        for (id, early) in std::mem::take(&mut self.early) {
            let Some(row) = self.ids.row(id) else {
                self.early.insert(id, early);
                continue;
            };
            if let Some(time) = early.promoted {
                // Whatever the file's order, a block is promoted before it is collected.
                match self.blocks.collected(row) {
                    Some(end) if end < time => self.inconsistent.promoted_twice += 1,
                    _ => self.promote_row_at(row, time),
                }
            }
            if let Some(time) = early.collected {
                self.collect_row(row, time);
            }
        }
    }

    /// What was built; all but the reader's tables.
    pub fn finish(mut self) -> Built {
        self.end();
        let Self { blocks, live_series, threads, ids, end, inconsistent, .. } = self;
        Built { blocks, live_series, threads, ids, end, inconsistent }
    }

    fn promote_row(&mut self, row: Row, time: Elapsed) {
        if self.blocks.collected(row).is_some() {
            self.inconsistent.promoted_twice += 1;
        } else {
            self.promote_row_at(row, time);
        }
    }

    fn promote_row_at(&mut self, row: Row, time: Elapsed) {
        if self.blocks.promoted(row).is_some() {
            self.inconsistent.promoted_twice += 1;
        } else {
            let time = self.not_before_allocation(row, time);
            self.live_series.promoted(time, self.blocks.samples(row), self.blocks.source(row));
            self.blocks.set_promoted(row, time);
        }
    }

    fn collect_row(&mut self, row: Row, time: Elapsed) {
        if self.blocks.collected(row).is_some() {
            self.inconsistent.collected_twice += 1;
        } else {
            let time = self.not_before_allocation(row, time);
            let source = self.blocks.place_of_collection(row);
            self.live_series.collected(time, self.blocks.samples(row), source);
            self.blocks.set_collected(row, time);
        }
    }

    fn not_before_allocation(&mut self, row: Row, time: Elapsed) -> Elapsed {
        let allocated = self.blocks.allocated(row);
        self.inconsistent.before_allocation += u64::from(time < allocated);
        time.max(allocated)
    }

    fn elapsed(&self, time: Timestamp) -> Elapsed {
        Elapsed(time.0.saturating_sub(self.start.0)).min(Elapsed::LAST).max(self.earliest)
    }
}

#[cfg(test)]
mod tests {
    use memtrail_trace::{DomainId, Source, StackId, Words};

    use super::*;

    fn block(time: u64) -> Block {
        Block {
            time: Elapsed(time),
            length: Words(2),
            samples: 1,
            source: Source::Minor,
            stack: StackId::ROOT,
            domain: DomainId(0),
        }
    }

    #[test]
    fn an_end_may_stand_before_its_beginning() {
        let mut builder = ProfileBuilder::new(Timestamp(0));
        builder.alloc(BlockId(10_000), &block(5));
        builder.promote(BlockId(3), Elapsed(7));
        builder.collect(BlockId(3), Elapsed(8));
        builder.alloc(BlockId(3), &block(6));
        let Built { blocks, end, inconsistent, .. } = builder.finish();
        assert_eq!(blocks.promoted(Row(1)), Some(Elapsed(7)));
        assert_eq!(blocks.collected(Row(1)), Some(Elapsed(8)));
        assert_eq!((blocks.collected(Row(0)), end), (None, Elapsed(8)));
        assert_eq!(inconsistent.total(), 0);
    }

    #[test]
    fn nonsense_is_counted_and_left_out() {
        let mut builder = ProfileBuilder::new(Timestamp(0));
        builder.alloc(BlockId(0), &block(5));
        builder.alloc(BlockId(0), &block(6));
        builder.collect(BlockId(0), Elapsed(3));
        builder.collect(BlockId(0), Elapsed(9));
        builder.promote(BlockId(0), Elapsed(9));
        builder.promote(BlockId(77), Elapsed(9));
        builder.collect(BlockId(77), Elapsed(9));
        let Built { blocks, inconsistent, .. } = builder.finish();
        assert_eq!((blocks.len(), blocks.collected(Row(0))), (1, Some(Elapsed(5))));
        let expected = Inconsistencies {
            allocated_twice: 1,
            unknown_block: 2,
            promoted_twice: 1,
            collected_twice: 1,
            before_allocation: 1,
            too_many: 0,
        };
        assert_eq!(inconsistent, expected);
    }
}
