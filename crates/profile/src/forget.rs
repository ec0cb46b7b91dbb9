//! Forgets blocks that were collected: a profile that is read for months keeps the live ones, and those of the present.

use crate::blocks::{Block, Blocks, Row};
use crate::ids::Ids;
use crate::live_series::LiveSeries;
use crate::profile::Profile;
use crate::time::Elapsed;

impl Profile {
    /// Forgets the blocks that were collected before a moment. Rows get new numbers; backtraces and call sites stay.
    /// Live memory over time is that of the blocks that are left.
    pub(crate) fn forget(&mut self, before: Elapsed) {
        let old = std::mem::take(&mut self.blocks);
        let ids = std::mem::take(&mut self.ids).of_rows(old.len());
        let kept = |row: &Row| old.collected(*row).is_none_or(|collected| collected >= before);
        let rows: Vec<Row> = old.rows().filter(kept).collect();
        let (mut blocks, mut new_ids, mut series) =
            (Blocks::default(), Ids::default(), LiveSeries::default());
        blocks.note_thinned(old.thinned_until());
        for &row in &rows {
            let block = Block {
                time: old.allocated(row),
                length: old.length(row),
                samples: old.samples(row),
                source: old.source(row),
                stack: old.stack(row),
                domain: old.domain(row),
            };
            let new = blocks.push(&block);
            blocks.set_halvings_of_last(old.halvings(row));
            if let Some(&id) = ids.get(row.0 as usize) {
                new_ids.insert(id, new);
            }
            series.allocated(block.time, block.samples, block.source);
            if let Some(time) = old.promoted(row) {
                series.promoted(time, block.samples, block.source);
                blocks.set_promoted(new, time);
            }
            if let Some(time) = old.collected(row) {
                let source = blocks.place_of_collection(new);
                series.collected(time, block.samples, source);
                blocks.set_collected(new, time);
            }
        }
        blocks.sort();
        series.settle(&blocks);
        if let Some(threads) = &mut self.threads {
            threads.keep(&rows);
        }
        (self.blocks, self.ids, self.live_series) = (blocks, new_ids, series);
    }
}

#[cfg(test)]
mod tests {
    use memtrail_trace::{BlockId, DomainId, Source, StackId, Timestamp, Words};
    use proptest::prelude::*;

    use super::*;
    use crate::build::ProfileBuilder;

    fn profile(ends: &[(Option<u64>, Option<u64>)]) -> Profile {
        let mut builder = ProfileBuilder::new(Timestamp(0));
        for (at, &(promoted, collected)) in ends.iter().enumerate() {
            let at = at as u64;
            let block = Block {
                time: Elapsed(at),
                length: Words(at * 1000),
                samples: at * 40_000,
                source: if at.is_multiple_of(3) { Source::Major } else { Source::Minor },
                stack: StackId(at as u32),
                domain: DomainId((at % 2) as u16),
            };
            builder.alloc(BlockId(at * 7), &block);
            if let Some(time) = promoted {
                builder.promote(BlockId(at * 7), Elapsed(at + time));
            }
            if let Some(time) = collected {
                builder.collect(BlockId(at * 7), Elapsed(at + promoted.unwrap_or(0) + time));
            }
        }
        let info = memtrail_trace::TraceInfo {
            sample_rate: memtrail_trace::SampleRate(1e-3),
            word_bits: 64,
            executable: String::new(),
            host: String::new(),
            runtime_params: String::new(),
            pid: 1,
            start: Timestamp(0),
            context: None,
        };
        let tables = memtrail_trace::Tables::default();
        let stacks = memtrail_trace::StackTree::new();
        Profile::new(
            info,
            builder,
            (tables.locations, stacks),
            memtrail_trace::Anomalies::default(),
        )
    }

    proptest! {
        #[test]
        fn what_is_left_is_as_it_was(
            ends in prop::collection::vec((prop::option::of(0..9_u64), prop::option::of(0..30_u64)), 0..60),
            before in 0..60_u64,
        ) {
            let (whole, mut cut) = (profile(&ends), profile(&ends));
            cut.forget(Elapsed(before));
            let kept = whole.blocks.rows().filter(|&row| {
                whole.blocks.collected(row).is_none_or(|collected| collected.0 >= before)
            });
            let mut count = 0;
            for (at, row) in kept.enumerate() {
                let (old, new, here) = (&whole.blocks, &cut.blocks, Row(at as u32));
                prop_assert_eq!(cut.find(BlockId(u64::from(row.0) * 7)), Some(here));
                prop_assert_eq!(old.allocated(row), new.allocated(here));
                prop_assert_eq!(old.promoted(row), new.promoted(here));
                prop_assert_eq!(old.collected(row), new.collected(here));
                prop_assert_eq!(old.stack(row), new.stack(here));
                prop_assert_eq!(old.length(row), new.length(here));
                prop_assert_eq!(old.samples(row), new.samples(here));
                prop_assert_eq!(old.source(row), new.source(here));
                prop_assert_eq!(old.domain(row), new.domain(here));
                count += 1;
            }
            prop_assert_eq!(cut.blocks.len(), count);
            let live = |profile: &Profile| {
                let rows = profile.blocks.rows();
                rows.filter(|&row| profile.blocks.collected(row).is_none())
                    .map(|row| profile.blocks.samples(row))
                    .sum::<u64>()
            };
            prop_assert_eq!(live(&whole), live(&cut));
        }
    }
}
