//! The files of snapshots that the user wants at moments of the program, within their part of `--disk`.
//!
//! If they have more, the one is dropped whose neighbours are closest to each other. So those that stay are at even steps
//! of the whole run, as judging growth needs.

use super::auto::Taken;

/// Snapshots may have one part in so many of the disk space. Their indexes take as much again and a half.
const PARTS: u64 = 4;
/// So many are kept beyond that …
const FEWEST: usize = 4;
/// … within one part in so many of the disk space. As much is left for the trace, and for the next one.
const FEW_PARTS: u64 = 2;

/// Snapshots that are there.
pub(super) struct Share {
    disk: u64,
    kept: Vec<Taken>,
}

impl Share {
    pub(super) fn new(disk: Option<u64>) -> Self {
        Self { disk: disk.unwrap_or(u64::MAX), kept: Vec::new() }
    }

    /// One is there. Gives the numbers of those to be dropped. The last stays, and the first if there is room for two.
    pub(super) fn add(&mut self, taken: Taken) -> Vec<u64> {
        self.kept.push(taken);
        let mut dropped = Vec::new();
        while self.is_full() {
            let place = self.closest().unwrap_or(0);
            dropped.push(self.kept.remove(place).number);
        }
        dropped
    }

    fn is_full(&self) -> bool {
        let parts = if self.kept.len() > FEWEST { PARTS } else { FEW_PARTS };
        self.kept.len() > 1 && self.bytes() > self.disk / parts
    }

    /// The place of the one without which the gap is smallest.
    fn closest(&self) -> Option<usize> {
        let gaps = self.kept.windows(3).filter_map(|three| match three {
            [before, _, after] => Some(after.number - before.number),
            _ => None,
        });
        let (place, _) = gaps.enumerate().min_by_key(|&(_, gap)| gap)?;
        Some(place + 1)
    }

    fn bytes(&self) -> u64 {
        self.kept.iter().map(|taken| taken.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of those that stay of so many.
    fn kept(disk: Option<u64>, count: u64, bytes: u64) -> Vec<u64> {
        let mut share = Share::new(disk);
        let mut there = Vec::new();
        for number in 1..=count {
            there.push(number);
            let dropped = share.add(Taken { number, cost: 1, pause: 1, bytes });
            there.retain(|number| !dropped.contains(number));
            assert!(disk.is_none_or(|disk| {
                let parts = if there.len() > FEWEST { PARTS } else { FEW_PARTS };
                there.len() == 1 || there.len() as u64 * bytes <= disk / parts
            }));
        }
        there
    }

    #[test]
    fn all_stay_where_they_have_room() {
        assert_eq!(kept(None, 1_000, 1 << 30).len(), 1_000);
        assert_eq!(kept(Some(100 << 20), 25, 1 << 20).len(), 25);
    }

    #[test]
    fn those_that_stay_are_at_even_steps() {
        for count in [100, 1_000, 1_111] {
            let there = kept(Some(100 << 20), count, 1 << 20);
            assert_eq!((there[0], there.last().copied()), (1, Some(count)));
            assert!(there.len() > 20, "{there:?}");
            let steps: Vec<u64> = there.windows(2).map(|two| two[1] - two[0]).collect();
            let (least, most) = (steps[..steps.len() - 1].iter().min(), steps.iter().max());
            assert!(most <= least.map(|least| least * 3).as_ref(), "{there:?}");
        }
    }

    #[test]
    fn a_few_stay_though_they_are_large() {
        let disk = Some(100 << 20);
        assert_eq!(kept(disk, 50, 12 << 20).len(), FEWEST);
        assert_eq!(kept(disk, 50, 25 << 20), [1, 50]);
        assert_eq!(kept(disk, 50, 26 << 20), [50]);
    }
}
