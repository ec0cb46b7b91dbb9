//! Subsample a trace, as if it had been recorded at a lower rate.
//!
//! Each sample is kept with the same chance, independently of all others, and the sampling rate is
//! multiplied by that chance: a binomial number of a binomial number is binomial again, so all
//! estimates stay unbiased, and their standard errors, computed from the new rate, stay right.
//!
//! The blocks that are left have other numbers: [`NewIds`] has them, for what names blocks by the old ones.

use std::io;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::Binomial;

use crate::info::TraceInfo;
use crate::rates::RateChanges;
use crate::read::{Alloc, Anomalies, Reader};
use crate::rewrite::{Rewrite, rewrite};
use crate::units::{BlockId, Bytes, SampleRate};
use crate::write::AllocEvent;

/// Passes over the trace that [`to_fit`] makes at most.
const PASSES: u32 = 8;

/// Keeps one sample in `factor`, drawn at random. Blocks that lose all their samples are dropped.
#[derive(Debug)]
pub struct Subsample {
    factor: f64,
    random: StdRng,
    rates: RateChanges,
    ids: Vec<(BlockId, BlockId)>,
    /// Blocks kept so far.
    pub kept: u64,
    /// Blocks dropped so far.
    pub dropped: u64,
}

impl Subsample {
    /// Keeps one sample in `factor`; a factor below 1, or that is no number, keeps all. Equal seeds
    /// keep equal samples.
    pub fn new(factor: f64, seed: u64) -> Self {
        let factor = if factor > 1.0 { factor } else { 1.0 };
        Self {
            factor,
            random: StdRng::seed_from_u64(seed),
            rates: RateChanges::default(),
            ids: Vec::new(),
            kept: 0,
            dropped: 0,
        }
    }

    /// As [`new`](Self::new), for a trace whose rate changed. Blocks of a lower rate are subsampled
    /// less: where the factor is as high as the rate was ever lowered, the result has one rate.
    #[must_use]
    pub fn with_rates(self, rates: RateChanges) -> Self {
        Self { rates, ..self }
    }

    /// The numbers of the blocks that were kept.
    pub fn into_ids(self) -> NewIds {
        let mut ids = self.ids;
        ids.sort_unstable();
        NewIds(ids)
    }

    /// Drops a block whatever its samples.
    pub fn drop_block(&mut self) {
        self.dropped += 1;
    }
}

impl Rewrite for Subsample {
    const STACKS: bool = true;

    fn info(&self, old: &TraceInfo) -> TraceInfo {
        TraceInfo { sample_rate: SampleRate(old.sample_rate.0 / self.factor), ..old.clone() }
    }

    fn alloc(&mut self, alloc: &Alloc<'_>) -> Option<AllocEvent> {
        // Each sample that was taken counts so many.
        let weight = 1_u64 << self.rates.of(alloc);
        let chance = (weight as f64 / self.factor).min(1.0);
        let taken = match alloc.samples / weight {
            // Most blocks have one sample: then most of the time would be that of preparing the distribution.
            1 => u64::from(self.random.random::<f64>() < chance),
            // Chances of 1 and below are the only ones there are.
            taken => {
                Binomial::new(taken, chance).map_or(0, |binomial| self.random.sample(binomial))
            }
        };
        if taken == 0 {
            self.dropped += 1;
            return None;
        }
        // From here on they count fewer, 1 where that is possible.
        let each = (weight as f64 / self.factor).max(1.0);
        let samples = (taken as f64 * each + self.random.random::<f64>()) as u64;
        if samples == 0 {
            self.dropped += 1;
            return None;
        }
        self.kept += 1;
        Some(AllocEvent { length: alloc.length, samples, source: alloc.source })
    }

    fn halvings(&self, alloc: &Alloc<'_>) -> Option<u8> {
        let each = 2_f64.powi(i32::from(self.rates.of(alloc))) / self.factor;
        alloc.halvings.map(|_| each.log2().ceil().max(0.0) as u8)
    }

    fn renumbered(&mut self, old: BlockId, new: BlockId) {
        self.ids.push((old, new));
    }
}

/// The numbers of blocks in a trace that has fewer of them.
#[derive(Clone, Debug, Default)]
pub struct NewIds(Vec<(BlockId, BlockId)>);

impl NewIds {
    /// The number of the block that had this one; `None` if it was dropped.
    pub fn get(&self, old: BlockId) -> Option<BlockId> {
        let place = self.0.binary_search_by_key(&old, |(old, _)| *old).ok()?;
        Some(self.0[place].1)
    }
}

/// A trace that was made to fit.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Its bytes.
    pub trace: Vec<u8>,
    /// Blocks that are left.
    pub kept: u64,
    /// Blocks there were.
    pub of: u64,
    /// Damage of the trace that was read.
    pub damage: Anomalies,
    /// One sample in so many was kept.
    pub factor: f64,
    /// The numbers of the blocks that are left.
    pub ids: NewIds,
}

/// The most that a trace may have.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes, as they are measured.
    pub bytes: Bytes,
    /// Blocks.
    pub blocks: u64,
}

/// Subsamples a trace until it fits, and hardly more. A trace that fits is copied. `measure` gives the bytes that count of a
/// trace, such as those when it is compressed, and `whole` is what it gives of all of it.
///
/// Names do not get fewer: where they alone need more, the result is larger.
///
/// # Errors
/// If the events of a damaged trace cannot be written.
pub fn to_fit(
    reader: &Reader<'_>,
    rates: &RateChanges,
    room: Room,
    whole: Bytes,
    measure: &dyn Fn(&[u8]) -> Bytes,
) -> io::Result<Fitted> {
    // Names do not get fewer, so the factor is this one or larger.
    let mut factor = (whole.0 as f64 / room.bytes.0.max(1) as f64).max(1.0);
    // The share of samples that was kept before, and how many times larger than allowed the trace was then.
    let mut before = None;
    let mut passes = 1;
    loop {
        let mut subsample = Subsample::new(factor, 0).with_rates(rates.clone());
        let (trace, decoded) = rewrite(reader, Vec::new(), &mut subsample, || ())?;
        let (kept, of) = (subsample.kept, subsample.kept + subsample.dropped);
        let damage = decoded.anomalies;
        let of_most = |have: u64, most: u64| have as f64 / most.max(1) as f64;
        let excess = of_most(measure(&trace).0, room.bytes.0).max(of_most(kept, room.blocks));
        if excess <= 1.0 || passes == PASSES {
            return Ok(Fitted { trace, kept, of, damage, factor, ids: subsample.into_ids() });
        }
        let now = (1.0 / factor, excess);
        factor = 1.0 / share(now, before.replace(now));
        passes += 1;
    }
}

/// The share of samples to keep next, by what came of two shares: names take the same room whatever is kept, and all else takes
/// room by the share.
fn share(now: (f64, f64), before: Option<(f64, f64)>) -> f64 {
    // A little less than would fit: chance may leave a little more than it should.
    const AIM: f64 = 0.95;
    let (share, excess) = now;
    let by_all = share / excess * AIM;
    let Some((share_before, excess_before)) = before else { return by_all };
    let slope = (excess_before - excess) / (share_before - share);
    let next = share - (excess - AIM) / slope;
    // No share is right if names alone are too large.
    if next.is_finite() && next < by_all { next.max(by_all / 8.0) } else { by_all }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::read::{Detail, Event};

    const TRACE: &[u8] = include_bytes!("../tests/fixtures/cache-v2.ctf");

    fn length(trace: &[u8]) -> Bytes {
        Bytes(trace.len() as u64)
    }

    #[test]
    fn a_trace_that_fits_keeps_all_its_blocks() {
        let reader = Reader::new(TRACE).unwrap();
        let room = Room { bytes: Bytes(1 << 30), blocks: 1 << 30 };
        let fitted =
            to_fit(&reader, &RateChanges::default(), room, reader.size(), &length).unwrap();
        assert_eq!((fitted.kept, fitted.factor), (fitted.of, 1.0));
    }

    #[test]
    fn subsampled_traces_fit_and_stand_for_as_much() {
        let reader = Reader::new(TRACE).unwrap();
        let words = |trace: &[u8]| {
            let reader = Reader::new(trace).unwrap();
            let mut samples = 0;
            reader.for_each(Detail::Marks, |event, _| {
                if let Event::Alloc(alloc) = event {
                    samples += alloc.samples;
                }
            });
            samples as f64 / reader.info().sample_rate.0
        };
        for (bytes, blocks) in [(60_000, u64::MAX), (u64::MAX, 3_000), (30_000, 3_000)] {
            let room = Room { bytes: Bytes(bytes), blocks };
            let rates = RateChanges::default();
            let passes = Cell::new(0);
            let measure = |trace: &[u8]| {
                passes.set(passes.get() + 1);
                length(trace)
            };
            let fitted = to_fit(&reader, &rates, room, reader.size(), &measure).unwrap();
            assert!(passes.get() <= 3, "{} passes", passes.get());
            assert!(fitted.trace.len() as u64 <= bytes && fitted.kept <= blocks, "{fitted:?}");
            assert!(fitted.kept > 500, "{} of {}", fitted.kept, fitted.of);
            // 500 blocks and more: five times the standard error is below a quarter.
            let ratio = words(&fitted.trace) / words(TRACE);
            assert!((ratio - 1.0).abs() < 0.25, "{ratio}");
        }
    }
}
