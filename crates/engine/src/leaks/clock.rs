//! The clock of allocation: it goes on as the program allocates, and stands while that waits. What grows with each request
//! grows steadily by it, however unevenly requests come.

use memtrail_profile::Profile;

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
