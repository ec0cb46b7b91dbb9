//! Buffers that only grow: one block at a time, which is replaced by one of twice its size when it is full.
//!
//! Few blocks are alive of such a buffer, often one. So it is judged by the blocks before that: sizes that only rise, and
//! the last replacement late, by the clock of allocation. A buffer that is full early, or is emptied and filled again, is
//! none. When a block is replaced, the contents of the buffer are as large as that block.

use memtrail_profile::estimate::Estimate;

use super::clock::Clock;
use super::growth::GrowthRate;
use super::sampled::Lifetime;

/// How much larger than its predecessor a block is at least.
const FACTOR: f64 = 1.3;
/// Blocks that are needed, the last one included.
const MIN_BLOCKS: usize = 3;
/// Blocks of a smaller part of the last one's size are not looked at: they may not have been sampled.
const MIN_PART: f64 = 1.0 / 20.0;
/// Something that doubles while it grows steadily was replaced for the last time in the second half.
const LATE: f64 = 0.4;

/// Judges the blocks of one place, of which the owner has one.
pub(super) fn by_sizes(blocks: &[Lifetime], clock: &Clock) -> Option<GrowthRate> {
    let mut owned = blocks.iter().filter(|block| block.is_owned);
    let (last, None) = (owned.next()?, owned.next()) else { return None };
    let size = |block: &Lifetime| block.size as f64;
    let mut large: Vec<&Lifetime> =
        blocks.iter().filter(|block| size(block) >= size(last) * MIN_PART).collect();
    large.sort_by(|a, b| a.allocated.total_cmp(&b.allocated));
    let rises = large.windows(2).all(|two| size(two[1]) >= size(two[0]) * FACTOR);
    if large.len() < MIN_BLOCKS || !rises || last.allocated < LATE {
        return None;
    }
    let [.., earlier, before, _] = large.as_slice() else { return None };
    let seconds = clock.time(last.allocated) - clock.time(before.allocated);
    let grown = size(before) - size(earlier);
    (seconds > 0.0).then(|| GrowthRate {
        rate: Estimate { value: grown / seconds, stderr: 0.0 },
        since: 0.0,
        grown: size(before),
        until: None,
        from: "sizes",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer that is replaced at these moments.
    fn buffer(moments: &[(f64, u64)]) -> Vec<Lifetime> {
        let ends = moments.iter().skip(1).map(|(at, _)| Some(*at)).chain([None]);
        let block = |(&(allocated, size), freed): (&(f64, u64), Option<f64>)| Lifetime {
            allocated,
            freed,
            bytes: size as f64,
            size,
            is_owned: freed.is_none(),
        };
        moments.iter().zip(ends).map(block).collect()
    }

    #[test]
    fn what_doubles_until_late_grows() {
        let clock = Clock::even(100.0);
        let doubles = buffer(&[(0.08, 1 << 16), (0.16, 1 << 17), (0.32, 1 << 18), (0.64, 1 << 19)]);
        let growth = by_sizes(&doubles, &clock).expect("it grows");
        // 128 KiB in 32 of 100 seconds.
        assert!((growth.rate.value - 4_096.0).abs() < 50.0, "{growth:?}");
        let early = buffer(&[(0.02, 1 << 16), (0.04, 1 << 17), (0.08, 1 << 18), (0.16, 1 << 19)]);
        assert_eq!(by_sizes(&early, &clock), None);
        let reset = buffer(&[
            (0.2, 1 << 17),
            (0.3, 1 << 18),
            (0.5, 1 << 16),
            (0.6, 1 << 17),
            (0.7, 1 << 18),
        ]);
        assert_eq!(by_sizes(&reset, &clock), None);
        assert_eq!(by_sizes(&doubles[2..], &clock), None, "too few to judge");
        let several = [&doubles[..], &doubles[3..]].concat();
        assert_eq!(by_sizes(&several, &clock), None);
    }
}
