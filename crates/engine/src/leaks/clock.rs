//! The clock of work: bytes allocated. It stands while the program waits. Growth with each request is steady by it, however
//! unevenly requests come.
//!
//! In a history that was thinned, the blocks that died are fewer than those that were sampled, and the live ones are not.
//! So each block that died counts as many blocks as were sampled for it.

use std::collections::HashMap;

use memtrail_order::SortRows as _;
use memtrail_profile::Profile;
use memtrail_profile::blocks::Row;
use memtrail_trace::{DomainId, Source};

use super::verdict::subsampled;

/// Part of the work after which a program only waits: a little goes on.
const WORKED: f64 = 0.98;
/// A program that waited for a smaller part of the time is not said to have waited.
const WAITED: f64 = 0.5;
/// Samples without which the clock shows nothing.
const MIN_SAMPLED: usize = 20;

/// Tells the work until a moment, as a part of the work until the last snapshot.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Moments in seconds, ascending, with the samples up to each.
    moments: Vec<(f64, u64)>,
    /// An index of them.
    intervals: Intervals,
    /// Blocks up to each that the recorder sampled, if the history was thinned.
    sampled: Option<Vec<f64>>,
    /// Samples up to the last snapshot.
    whole: u64,
    /// Number of moments up to the last snapshot.
    before: usize,
}

impl Clock {
    /// Of the blocks that were sampled. Memory outside OCaml's heap is no work of its allocator, unless there is no other;
    /// `end` is when the last snapshot was taken.
    pub(super) fn new(profile: &Profile, end: f64) -> Self {
        let blocks = &profile.blocks;
        let is_inside = |row| blocks.source(row) != Source::External;
        let has_inside = blocks.rows().any(is_inside);
        Self::counting(profile, end, |row| !has_inside || is_inside(row))
    }

    /// A clock of such blocks alone.
    pub(super) fn counting(profile: &Profile, end: f64, is_counted: impl Fn(Row) -> bool) -> Self {
        let blocks = &profile.blocks;
        let moment = |row| (blocks.allocated(row).seconds(), blocks.samples(row));
        let rows: Vec<Row> = blocks.by_allocation().filter(|row| is_counted(*row)).collect();
        let clock = Self::of(rows.iter().map(|row| moment(*row)).collect(), end);
        let Some(until) = blocks.thinned_until() else { return clock };
        let block = |row: &Row| Recorded {
            domain: blocks.domain(*row),
            halvings: blocks.halvings(*row),
            may_be_thinned: blocks.collected(*row).is_some() && blocks.allocated(*row) <= until,
        };
        let recorded: Vec<Recorded> = rows.iter().map(block).collect();
        Self { sampled: Some(sampled(&recorded)), ..clock }
    }

    fn of(mut moments: Vec<(f64, u64)>, end: f64) -> Self {
        moments.sort_rows_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0_u64;
        for (_, samples) in &mut moments {
            sum = sum.saturating_add(*samples);
            *samples = sum;
        }
        let before = moments.partition_point(|(at, _)| *at <= end);
        let whole = before.checked_sub(1).map_or(0, |last| moments[last].1);
        let intervals = Intervals::of(&moments);
        Self { moments, intervals, whole, before, sampled: None }
    }

    /// True if there are so few samples that it shows nothing.
    pub(super) const fn stands(&self) -> bool {
        self.before < MIN_SAMPLED
    }

    /// Number of samples up to the last snapshot, and after it.
    pub(super) const fn counts(&self) -> (usize, usize) {
        (self.before, self.moments.len() - self.before)
    }

    /// Number of blocks that the recorder sampled up to the last snapshot, and after it.
    pub(super) fn sampled(&self) -> (u64, u64) {
        let (before, after) = self.counts();
        let Some(sampled) = &self.sampled else { return (before as u64, after as u64) };
        let until = |count: usize| count.checked_sub(1).map_or(0.0, |last| sampled[last]);
        let before = until(self.before);
        (before as u64, (until(sampled.len()) - before) as u64)
    }

    /// Work at even ranks of the blocks that the recorder sampled up to the last snapshot, ascending.
    pub(super) fn ranks(&self, most: usize) -> Vec<f64> {
        let work: Vec<f64> =
            self.moments[..self.before].iter().map(|(_, sum)| self.part(*sum)).collect();
        let Some(sampled) = &self.sampled else { return subsampled(&work, most) };
        let (Some(last), Some(whole)) = (work.len().checked_sub(1), sampled[..work.len()].last())
        else {
            return work;
        };
        let place = |rank: usize| {
            let wanted = whole * rank as f64 / (most - 1) as f64;
            sampled[..last].partition_point(|count| *count < wanted)
        };
        (0..most).map(|rank| work[place(rank)]).collect()
    }

    /// Work until a moment: 1 at the last snapshot, more after it.
    pub(super) fn at(&self, moment: f64) -> f64 {
        let place = self.intervals.until(&self.moments, moment);
        place.checked_sub(1).map_or(0.0, |place| self.part(self.moments[place].1))
    }

    /// Work until the end of the recording.
    pub(super) fn end(&self) -> f64 {
        self.moments.last().map_or(1.0, |(_, sum)| self.part(*sum)).max(1.0)
    }

    fn part(&self, sum: u64) -> f64 {
        if self.whole == 0 { 0.0 } else { sum as f64 / self.whole as f64 }
    }

    /// When so much work was done, in seconds.
    pub(super) fn time(&self, part: f64) -> f64 {
        let wanted = (part * self.whole as f64).floor() as u64;
        let place = self.moments.partition_point(|(_, sum)| *sum < wanted);
        self.moments.get(place).or(self.moments.last()).map_or(0.0, |(at, _)| *at)
    }

    /// When the program began to wait, in seconds, if it did nothing else for most of the time.
    pub(super) fn waits_since(&self, end: f64) -> Option<f64> {
        let since = self.time(WORKED);
        (!self.stands() && since < end * WAITED).then_some(since)
    }
}

/// Equal intervals of time, with the number of moments before each: a lookup searches one of them, not all moments. It is
/// done twice for each block.
#[derive(Debug, Default)]
struct Intervals {
    first: f64,
    /// Number of intervals in a second.
    scale: f64,
    before: Vec<u32>,
}

impl Intervals {
    /// Moments are ascending. There is an interval for each eight, within bounds.
    fn of(moments: &[(f64, u64)]) -> Self {
        let (Some((first, _)), Some((last, _))) = (moments.first(), moments.last()) else {
            return Self::default();
        };
        let count = (moments.len() / 8).clamp(1, 1 << 20);
        let scale = count as f64 / (last - first).max(f64::MIN_POSITIVE);
        let mut all = Self { first: *first, scale, before: vec![0; count + 2] };
        for (at, _) in moments {
            let number = all.number(*at);
            all.before[number + 1] += 1;
        }
        let mut sum = 0;
        for before in &mut all.before {
            sum += *before;
            *before = sum;
        }
        all
    }

    /// Number of the interval of a moment: not less than that of an earlier one.
    fn number(&self, moment: f64) -> usize {
        let last = self.before.len() - 2;
        (((moment - self.first) * self.scale) as usize).min(last)
    }

    /// Number of moments until this one, itself included.
    fn until(&self, moments: &[(f64, u64)], moment: f64) -> usize {
        if moments.is_empty() || moment < self.first {
            return 0;
        }
        let number = self.number(moment);
        let (from, to) = (self.before[number] as usize, self.before[number + 1] as usize);
        from + moments[from..to].partition_point(|(at, _)| *at <= moment)
    }
}

/// A block of a recording whose history was thinned.
struct Recorded {
    domain: DomainId,
    /// Number of times that the trace's rate was halved for it.
    halvings: u8,
    /// False if it is alive, or newer than that history: the recorder's rate is known by these.
    may_be_thinned: bool,
}

/// Number of blocks up to each that the recorder sampled. The blocks are in the order of their allocation.
///
/// The recorder changes the rate of all blocks of a domain, thinning that of the dead alone. So they are as much fewer as
/// their rate is lower than that of their neighbours that were not thinned.
fn sampled(blocks: &[Recorded]) -> Vec<f64> {
    let before = neighbours(blocks.iter());
    let mut after = neighbours(blocks.iter().rev());
    after.reverse();
    let mut count = 0.0;
    blocks
        .iter()
        .zip(before.into_iter().zip(after))
        .map(|(block, (before, after))| {
            let recorded = before.max(after).unwrap_or(0);
            count += f64::from(block.halvings.saturating_sub(recorded)).exp2();
            count
        })
        .collect()
}

/// For each block, the halvings of the last block of its domain that was not thinned.
fn neighbours<'a>(blocks: impl Iterator<Item = &'a Recorded>) -> Vec<Option<u8>> {
    let mut known: HashMap<DomainId, u8> = HashMap::default();
    let neighbour = |block: &Recorded| {
        if !block.may_be_thinned {
            known.insert(block.domain, block.halvings);
        }
        known.get(&block.domain).copied()
    };
    blocks.map(neighbour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(halvings: u8, may_be_thinned: bool) -> Recorded {
        Recorded { domain: DomainId(0), halvings, may_be_thinned }
    }

    /// Even work, of which each tenth block stays. The older half of the dead ones was thinned to one in eight.
    #[test]
    fn ranks_in_a_thinned_history_are_those_of_all_samples() {
        let (mut moments, mut blocks) = (Vec::new(), Vec::new());
        for number in 1..=4_000_u32 {
            let is_dead = number % 10 > 0;
            let is_thinned = is_dead && number <= 2_000;
            if !is_thinned || number % 8 == 1 {
                moments.push((f64::from(number), if is_thinned { 8 } else { 1 }));
                blocks.push(recorded(if is_thinned { 3 } else { 0 }, is_dead));
            }
        }
        let plain = Clock::of(moments, 4_000.0);
        assert!(plain.ranks(101)[50] > 0.6, "the dates of the live ones seem early");
        let clock = Clock { sampled: Some(sampled(&blocks)), ..plain };
        for (rank, work) in clock.ranks(101).into_iter().enumerate() {
            assert!((work - rank as f64 / 100.0).abs() < 0.03, "{work} at {rank} %");
        }
        let (before, after) = clock.sampled();
        assert!((3_900..4_300).contains(&before) && after == 0, "{before}, {after}");
    }

    #[test]
    fn a_rate_that_the_recorder_changes_is_no_thinning() {
        let block = |number: usize| recorded([0, 3, 1][number / 100], number % 10 != 5);
        let blocks: Vec<_> = (0..300).map(block).collect();
        assert_eq!(sampled(&blocks).last(), Some(&300.0));
    }

    /// Even work for ten seconds, then waiting.
    fn even(blocks: u32) -> Vec<(f64, u64)> {
        (1..=blocks).map(|block| (f64::from(block) * 10.0 / f64::from(blocks), 1)).collect()
    }

    proptest::proptest! {
        #[test]
        fn lookups_find_what_a_search_of_all_moments_does(
            mut times in proptest::collection::vec(0.0..50.0_f64, 0..200),
            same in 0..40_usize,
            asked in proptest::collection::vec(-5.0..60.0_f64, 20),
        ) {
            // A collection frees blocks at one moment.
            times.extend(vec![7.25; same]);
            times.sort_by(f64::total_cmp);
            let moments: Vec<(f64, u64)> = times.iter().map(|at| (*at, 1)).collect();
            let intervals = Intervals::of(&moments);
            for at in asked.iter().chain(&times).chain(&[7.25, f64::MAX]) {
                let expected = moments.partition_point(|(one, _)| one <= at);
                proptest::prop_assert_eq!(intervals.until(&moments, *at), expected);
            }
        }
    }

    #[test]
    fn waiting_is_no_work() {
        let clock = Clock::of(even(100), 60.0);
        assert!((clock.at(5.0) - 0.5).abs() < 0.02, "{clock:?}");
        assert!((clock.at(30.0) - 1.0).abs() < f64::EPSILON, "{clock:?}");
        assert!((clock.time(0.5) - 5.0).abs() < 0.2, "{clock:?}");
        assert!(clock.waits_since(60.0).is_some_and(|since| since < 10.0));
        assert_eq!(clock.waits_since(12.0), None);
    }

    #[test]
    fn work_after_the_last_snapshot_is_more_than_one() {
        let clock = Clock::of(even(100), 5.0);
        assert_eq!(clock.counts(), (50, 50));
        assert!((clock.end() - 2.0).abs() < 0.02, "{clock:?}");
    }

    /// With one sampled block in the first half of the time, a program that works all the time was said to wait since then.
    #[test]
    fn few_samples_do_not_tell_that_a_program_waits() {
        assert_eq!(Clock::of(even(19), 100.0).waits_since(100.0), None);
        assert!(Clock::of(Vec::new(), 1.0).stands());
    }
}
