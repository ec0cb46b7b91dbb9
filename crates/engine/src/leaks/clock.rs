//! The clock of work: bytes allocated. It stands while the program waits. Growth with each request is steady by it, however
//! unevenly requests come.

use memtrail_profile::Profile;
use memtrail_trace::Source;

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
        let rows = blocks.rows().filter(|row| !has_inside || is_inside(*row));
        let rows = rows.map(|row| (blocks.allocated(row).seconds(), blocks.samples(row)));
        Self::of(rows.collect(), end)
    }

    fn of(mut moments: Vec<(f64, u64)>, end: f64) -> Self {
        moments.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0_u64;
        for (_, samples) in &mut moments {
            sum = sum.saturating_add(*samples);
            *samples = sum;
        }
        let before = moments.partition_point(|(at, _)| *at <= end);
        let whole = before.checked_sub(1).map_or(0, |last| moments[last].1);
        Self { moments, whole, before }
    }

    /// True if there are so few samples that it shows nothing.
    pub(super) const fn stands(&self) -> bool {
        self.before < MIN_SAMPLED
    }

    /// Number of samples up to the last snapshot, and after it.
    pub(super) const fn counts(&self) -> (usize, usize) {
        (self.before, self.moments.len() - self.before)
    }

    /// Work of each sample up to the last snapshot, ascending.
    pub(super) fn sampled(&self) -> Vec<f64> {
        self.moments[..self.before].iter().map(|(_, sum)| self.part(*sum)).collect()
    }

    /// Work until a moment: 1 at the last snapshot, more after it.
    pub(super) fn at(&self, moment: f64) -> f64 {
        let place = self.moments.partition_point(|(at, _)| *at <= moment);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Even work for ten seconds, then waiting.
    fn even(blocks: u32) -> Vec<(f64, u64)> {
        (1..=blocks).map(|block| (f64::from(block) * 10.0 / f64::from(blocks), 1)).collect()
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
