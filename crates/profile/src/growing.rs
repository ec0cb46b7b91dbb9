//! A profile of a trace that still grows: what comes is added to what is there.

use std::sync::Arc;

use memtrail_trace::rates::RateChanges;
use memtrail_trace::{Detail, Error, Event, Follow, Naming, StackTree, Tables};

use crate::build::ProfileBuilder;
use crate::profile::Profile;
use crate::threads::ThreadLog;
use crate::time::Elapsed;

/// A profile, and where it goes on.
#[derive(Debug)]
pub struct GrowingProfile {
    follow: Follow,
    known: Option<Known>,
    /// Until there is a builder that can take it.
    threads: Option<ThreadLog>,
    /// Likewise.
    rates: Option<RateChanges>,
}

/// From when the trace has said what it is.
#[derive(Debug)]
struct Known {
    builder: ProfileBuilder,
    profile: Profile,
}

impl GrowingProfile {
    /// At the beginning of a trace. `naming` has names of functions that are not in the trace.
    pub fn new(naming: Option<Arc<dyn Naming>>) -> Self {
        let follow = Follow::new(Detail::Stacks).named(naming);
        Self { follow, known: None, threads: None, rates: None }
    }

    /// Byte of the file from which on the next call must be given its bytes.
    pub fn offset(&self) -> u64 {
        self.follow.offset()
    }

    /// What has been read so far; nothing until the trace has said what it is.
    pub fn profile(&self) -> Option<&Profile> {
        self.known.as_ref().map(|known| &known.profile)
    }

    /// The same, to be kept.
    pub fn into_profile(self) -> Option<Profile> {
        self.known.map(|known| known.profile)
    }

    /// Which thread allocated the blocks that come next, as far as that is known now; what was said
    /// before is part of it.
    pub fn threads(&mut self, log: ThreadLog) {
        self.threads = Some(log);
    }

    /// At which rate the blocks that come next were sampled, likewise.
    pub fn rates(&mut self, changes: RateChanges) {
        self.rates = Some(changes);
    }

    /// Reads the packets that are whole in `tail`, the bytes of the file from
    /// [`offset`](Self::offset) to its present end. Whether there are any.
    pub fn advance(&mut self, tail: &[u8]) -> bool {
        let before = self.offset();
        self.start(tail);
        let Some(known) = &mut self.known else { return false };
        known.lend(&mut self.follow, self.threads.take(), self.rates.take());
        self.follow.advance(tail, |event: Event<'_>, _: &Tables| known.builder.event(event));
        known.builder.settle();
        known.take_back(&mut self.follow);
        self.offset() > before
    }

    /// As [`advance`](Self::advance), when no more will come.
    ///
    /// # Errors
    /// If nothing has said what the trace is.
    pub fn finish(&mut self, tail: &[u8]) -> Result<(), Error> {
        self.start(tail);
        let Some(known) = &mut self.known else { return self.follow.finish(tail, |_, _| {}) };
        known.lend(&mut self.follow, self.threads.take(), self.rates.take());
        let finished =
            self.follow.finish(tail, |event: Event<'_>, _: &Tables| known.builder.event(event));
        known.builder.end();
        known.take_back(&mut self.follow);
        finished
    }

    /// Forgets the blocks that were collected before a moment, so that memory is bounded by the live blocks and those since
    /// then. Rows get new numbers. An event of a forgotten block that still comes is ignored.
    pub fn forget(&mut self, before: Elapsed) {
        if let Some(known) = &mut self.known {
            known.builder.forget(before);
            known.profile.forget(before);
        }
    }

    /// Moves events that still come with a time before a moment to that moment. Sums up to it
    /// do not change any more.
    pub fn not_before(&mut self, earliest: Elapsed) {
        if let Some(known) = &mut self.known {
            known.builder.not_before(earliest);
        }
    }

    /// Sees whether the trace says what it is.
    fn start(&mut self, tail: &[u8]) {
        if self.known.is_some() {
            return;
        }
        // The beginning is read once more; as a rule it is all there is.
        let mut ahead = Follow::new(Detail::Marks);
        ahead.advance(tail, |_, _| {});
        self.known = ahead.info().map(|info| Known {
            builder: ProfileBuilder::new(info.start),
            profile: Profile::new(
                info.clone(),
                ProfileBuilder::new(info.start),
                (Tables::default().locations, StackTree::new()),
                ahead.anomalies().clone(),
            ),
        });
    }
}

impl Known {
    /// Gives builder and reader what the profile has.
    fn lend(
        &mut self,
        follow: &mut Follow,
        threads: Option<ThreadLog>,
        rates: Option<RateChanges>,
    ) {
        self.profile.exchange(&mut self.builder);
        if let Some(rates) = rates {
            self.builder.rates(rates);
        }
        if let Some(threads) = threads {
            self.builder.threads(threads);
        }
        self.exchange_tables(follow);
    }

    fn take_back(&mut self, follow: &mut Follow) {
        self.profile.exchange(&mut self.builder);
        self.exchange_tables(follow);
        self.profile.damage = follow.anomalies().clone();
        self.profile.learn_rates();
    }

    fn exchange_tables(&mut self, follow: &mut Follow) {
        let tables = follow.tables_mut();
        std::mem::swap(&mut tables.locations, &mut self.profile.locations);
        std::mem::swap(&mut tables.stacks, &mut self.profile.stacks);
    }
}
