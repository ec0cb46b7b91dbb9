//! A whole trace, read and put in order.

use std::convert::Infallible;
use std::ops::ControlFlow;

use memtrail_trace::rates::RateChanges;
use memtrail_trace::{Anomalies, BlockId, Detail, Error, Locations, Reader, StackTree, TraceInfo};

use crate::blocks::{Blocks, Row};
use crate::build::{Built, Inconsistencies, ProfileBuilder};
use crate::estimate::{Adapted, Estimator};
use crate::ids::Ids;
use crate::live_series::LiveSeries;
use crate::threads::{ThreadLog, Threads};
use crate::time::Elapsed;

/// The blocks of a trace, and what they refer to.
#[derive(Debug)]
pub struct Profile {
    /// What the trace says of itself.
    pub info: TraceInfo,
    /// The sampled blocks.
    pub blocks: Blocks,
    /// Call sites.
    pub locations: Locations,
    /// Backtraces.
    pub stacks: StackTree,
    /// When the last event happened.
    pub end: Elapsed,
    /// Events that contradict others.
    pub inconsistent: Inconsistencies,
    /// Damage that the reader met and read past.
    pub damage: Anomalies,
    /// Turns samples into totals.
    pub estimator: Estimator,
    /// Live memory over time.
    pub live_series: LiveSeries,
    /// Which thread allocated each block, if the recording says so.
    pub threads: Option<Threads>,
    /// How far the rate was lowered on the way, if it was.
    pub adapted: Option<Adapted>,
    pub(crate) ids: Ids,
}

impl Profile {
    /// Reads a trace. `progress` is called with the number of events so far, every million or so.
    pub fn read(trace: &[u8], progress: &mut dyn FnMut(u64)) -> Result<Self, Error> {
        Self::read_with(trace, None, None, progress)
    }

    /// As [`read`](Self::read), with the lists that say which thread allocated what, and what was
    /// sampled at which rate.
    pub fn read_with(
        trace: &[u8],
        threads: Option<ThreadLog>,
        rates: Option<RateChanges>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, Error> {
        let reader = Reader::new(trace)?;
        let info = reader.info().clone();
        let mut builder = ProfileBuilder::new(info.start);
        if let Some(threads) = threads {
            builder.threads(threads);
        }
        if let Some(rates) = rates {
            builder.rates(rates);
        }
        let mut events = 0_u64;
        let read = reader.try_for_each(Detail::Stacks, |event, _| {
            builder.event(event);
            events += 1;
            if events.is_multiple_of(1 << 20) {
                progress(events);
            }
            ControlFlow::<Infallible>::Continue(())
        });
        let ControlFlow::Continue(decoded) = read;
        let tables = (decoded.tables.locations, decoded.tables.stacks);
        Ok(Self::new(info, builder, tables, decoded.anomalies))
    }

    /// Puts together what has been read.
    pub fn new(
        info: TraceInfo,
        builder: ProfileBuilder,
        (locations, stacks): (Locations, StackTree),
        damage: Anomalies,
    ) -> Self {
        let Built { blocks, live_series, threads, ids, end, inconsistent } = builder.finish();
        let estimator = Estimator::new(info.sample_rate, info.word_bits);
        let mut profile = Self {
            info,
            blocks,
            locations,
            stacks,
            end,
            inconsistent,
            damage,
            estimator,
            live_series,
            threads,
            adapted: None,
            ids,
        };
        profile.learn_rates();
        profile
    }

    /// Sums up at which rates the blocks were sampled.
    pub(crate) fn learn_rates(&mut self) {
        self.adapted = Adapted::of(&self.blocks, self.info.sample_rate);
        self.estimator.learn(self.adapted.as_ref());
    }

    /// Exchanges what is built for what the profile has.
    pub(crate) fn exchange(&mut self, builder: &mut ProfileBuilder) {
        let Self { blocks, live_series, threads, ids, .. } = self;
        (self.end, self.inconsistent) = builder.exchange(blocks, live_series, threads, ids);
    }

    /// The row of the block with an id of the trace.
    pub fn find(&self, id: BlockId) -> Option<Row> {
        self.ids.find(id)
    }
}
