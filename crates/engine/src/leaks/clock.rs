//! The clock of allocation: it goes on as the program allocates, and stands while that waits. What grows with each request
//! grows steadily by it, however unevenly requests come.

use memtrail_profile::Profile;

/// A pause is this part of the time at least,
const MIN_PAUSE: f64 = 0.05;
/// and so many times as long as what is usually between two sampled blocks.
const UNUSUAL: f64 = 10.0;
/// Of fewer sampled blocks nothing is said of pauses.
const MIN_SAMPLED: usize = 30;
/// A program that works now and then pauses so often,
const MIN_PAUSES: usize = 3;
/// and for this part of the time.
const PAUSED: f64 = 0.5;

/// Tells what part of all that was allocated before the snapshot was allocated before a moment.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Moments in seconds, ascending, with the samples up to each.
    moments: Vec<(f64, u64)>,
    /// What most sampled blocks of the second half of the time stand for.
    late_bytes: f64,
}

impl Clock {
    /// By the sampled blocks that were allocated before `end`.
    pub(super) fn new(profile: &Profile, end: f64) -> Self {
        let blocks = &profile.blocks;
        let rows = blocks.rows().map(|row| (blocks.allocated(row).seconds(), blocks.samples(row)));
        let mut moments: Vec<(f64, u64)> = rows.filter(|(at, _)| *at <= end).collect();
        moments.sort_by(|a, b| a.0.total_cmp(&b.0));
        let late = moments.partition_point(|(at, _)| *at <= end / 2.0);
        let mut weights: Vec<u64> = moments[late..].iter().map(|(_, samples)| *samples).collect();
        weights.sort_unstable();
        let late = weights.get(weights.len() / 2).copied().unwrap_or(0);
        let late_bytes = late as f64 * profile.estimator.bytes_per_sample();
        let mut sum = 0_u64;
        for (_, samples) in &mut moments {
            sum = sum.saturating_add(*samples);
            *samples = sum;
        }
        moments.push((end, sum));
        Self { moments, late_bytes }
    }

    /// How many bytes most sampled blocks of the second half of the time stand for: the rate may have fallen.
    pub(super) const fn late_bytes(&self) -> f64 {
        self.late_bytes
    }

    /// What part had been allocated, from 0 to 1.
    pub(super) fn at(&self, moment: f64) -> f64 {
        let place = self.moments.partition_point(|(at, _)| *at <= moment);
        let before = place.checked_sub(1).and_then(|place| self.moments.get(place));
        let all = self.moments.last().map_or(0, |(_, sum)| *sum);
        if all == 0 { 0.0 } else { before.map_or(0, |(_, sum)| *sum) as f64 / all as f64 }
    }

    /// When so much had been allocated, in seconds.
    pub(super) fn time(&self, part: f64) -> f64 {
        let all = self.moments.last().map_or(0, |(_, sum)| *sum);
        let wanted = (part * all as f64).floor() as u64;
        let place = self.moments.partition_point(|(_, sum)| *sum < wanted);
        self.moments.get(place).or(self.moments.last()).map_or(0.0, |(at, _)| *at)
    }

    /// Whether there are so many sampled blocks that a time without any is a pause.
    pub(super) const fn tells_pauses(&self) -> bool {
        // The last moment is the end.
        self.moments.len() > MIN_SAMPLED
    }

    /// Whether the program worked now and then until a moment, and paused in between for most of the time: as servers do,
    /// and not what reads its data at the start.
    pub(super) fn works_now_and_then(&self, until: f64) -> bool {
        let worked = self.moments.iter().map(|(at, _)| *at).take_while(|at| *at <= until);
        let moments: Vec<f64> = worked.collect();
        let mut spans: Vec<f64> = moments.windows(2).map(|two| two[1] - two[0]).collect();
        spans.sort_by(f64::total_cmp);
        // What was sampled is apart by chance, too.
        let usual = spans.get(spans.len() / 2).copied().unwrap_or(0.0);
        let least = (until * MIN_PAUSE).max(usual * UNUSUAL);
        let (count, sum) = spans
            .iter()
            .rev()
            .take_while(|span| **span >= least)
            .fold((0, 0.0), |(count, sum), span| (count + 1, sum + span));
        moments.len() >= MIN_SAMPLED && count >= MIN_PAUSES && sum >= until * PAUSED
    }

    /// One by so many blocks that were allocated at 0.9 of 3 seconds.
    #[cfg(test)]
    pub(super) fn of_early(blocks: u64) -> Self {
        let moments = (1..=blocks).map(|block| (0.9, block)).chain([(3.0, blocks)]);
        Self { moments: moments.collect(), late_bytes: 1.0 }
    }

    /// One that goes evenly for so many seconds.
    #[cfg(test)]
    pub(super) fn even(seconds: f64) -> Self {
        Self::even_at(seconds, 1.0)
    }

    /// One whose late blocks stand for so many bytes.
    #[cfg(test)]
    pub(super) fn even_at(seconds: f64, late_bytes: f64) -> Self {
        let moments = (0..=1000).map(|part| (seconds * f64::from(part) / 1000.0, part as u64));
        Self { moments: moments.collect(), late_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_work_now_and_then() {
        let clock = |moments: &mut dyn Iterator<Item = f64>| Clock {
            moments: moments.zip(1..).collect(),
            late_bytes: 1.0,
        };
        // Each second a hundred blocks in a fifth of it.
        let visits =
            || (0..600).map(|block| f64::from(block / 100) + f64::from(block % 100) / 500.0);
        assert!(clock(&mut visits()).works_now_and_then(5.2));
        // Two visits are not many, and one who reads works all the time, though at times more slowly.
        assert!(!clock(&mut visits().take(300)).works_now_and_then(2.2));
        let even = || (0..600).map(|block| f64::from(block) / 100.0);
        assert!(!clock(&mut even()).works_now_and_then(6.0));
        assert!(!clock(&mut even().map(|at| at * at / 6.0)).works_now_and_then(6.0));
        assert!(!clock(&mut std::iter::empty()).works_now_and_then(6.0));
    }

    /// What was sampled of even work is in no order, and has pauses once in a thousand times at most.
    #[test]
    fn few_samples_are_not_taken_for_pauses() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for blocks in [5, 20, 30, 50] {
            let wrong = (0..2_000).filter(|_| {
                let mut moments: Vec<(f64, u64)> = (0..blocks).map(|_| (random(), 1)).collect();
                moments.sort_by(|a, b| a.0.total_cmp(&b.0));
                Clock { moments, late_bytes: 1.0 }.works_now_and_then(1.0)
            });
            let wrong = wrong.count();
            assert!(wrong <= 2, "{wrong} of 2,000 with {blocks} blocks");
        }
    }

    #[test]
    fn it_stands_while_nothing_is_allocated() {
        let moments = vec![(1.0, 10), (2.0, 40), (60.0, 100), (99.0, 100)];
        let clock = Clock { moments, late_bytes: 1.0 };
        for (moment, part) in
            [(0.0, 0.0), (1.0, 0.1), (1.9, 0.1), (30.0, 0.4), (60.0, 1.0), (99.0, 1.0)]
        {
            assert!((clock.at(moment) - part).abs() < 1e-9, "{moment}");
        }
        for (part, moment) in [(0.05, 1.0), (0.1, 1.0), (0.3, 2.0), (0.9, 60.0), (1.0, 60.0)] {
            assert!((clock.time(part) - moment).abs() < 1e-9, "{part}");
        }
        assert!(Clock::default().at(3.0).abs() < 1e-9 && Clock::default().time(1.0).abs() < 1e-9);
    }
}
