//! Whether an owner grows, from when its sampled blocks were allocated and freed.
//!
//! Times are by the clock of allocation ([`Clock`]). Its youngest tenth is not looked at: what was allocated there may be
//! in use still.
//!
//! Two questions are asked: whether what was sampled shows that the owner grew and still does, and if not, whether steady
//! growth would have shown. Where it need not, the owner cannot be judged. A block counts by what it stands for: where the
//! rate fell, few late blocks stand for as much as many early ones, and tell less than their number.

use memtrail_profile::estimate::Estimate;

use super::clock::Clock;
use super::growth::{GrowthRate, Judgement, STILL, Shape};

/// Points in time at which sampled blocks are counted.
const POINTS: usize = 24;
/// The part of all allocation that is looked at.
pub(super) const LOOKED_AT: f64 = 0.9;
/// There has to be clearly more at the end than here.
const HALFWAY: f64 = 0.4;
/// From here on, what grew has to have grown on.
const LATE: f64 = 0.7;
/// With fewer blocks nothing is sure.
const MIN_OWNED: usize = 7;
/// With fewer, what did not begin with the program may be the last step of its task, which is all there is at its end.
const MIN_OWNED_LATE: usize = 16;
/// What is sure has to be off by so many standard errors: by chance, it is once in 160 times.
const SURE: f64 = 2.5;
/// What is likely.
const LIKELY: f64 = 1.5;
/// Of the growth that is expected from [`HALFWAY`] on, so much has to be there where lifetimes rise.
const MIN_OF_EXPECTED: f64 = 0.5;
/// With fewer freed blocks nothing is said of how lifetimes change.
const MIN_FREED: usize = 20;
/// Parts of the time that differ by less are the same.
const SAME: f64 = 1e-9;
/// So many lifetimes are compared with each other at most.
const COMPARED: usize = 256;

/// A block that was sampled: when it was allocated and, if it was, freed, by the clock of allocation; and for how many
/// bytes it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifetime {
    pub(super) allocated: f64,
    pub(super) freed: Option<f64>,
    pub(super) bytes: f64,
    /// Its own bytes.
    pub(super) size: u64,
    /// Whether the owner has it at the end.
    pub(super) is_owned: bool,
}

impl Lifetime {
    fn is_alive(&self, at: f64) -> bool {
        self.allocated <= at && self.freed.is_none_or(|freed| freed > at)
    }
}

/// Judges by sampled blocks; the clock tells times.
///
/// What is freed is known only once it was collected, so that of earlier moments there are upper bounds. What is owned
/// at the end is known exactly: if that is clearly more than there was before, it grew.
pub(super) fn by_samples(blocks: &[Lifetime], clock: &Clock) -> Judgement {
    let count = blocks.iter().filter(|block| block.is_owned).count();
    if count < MIN_OWNED {
        return Judgement::Unknown;
    }
    let times: Vec<f64> =
        (0..=POINTS).map(|point| LOOKED_AT * point as f64 / POINTS as f64).collect();
    let size = |at: f64| {
        let alive = blocks.iter().filter(|block| block.is_alive(at));
        alive.map(|block| block.bytes).sum::<f64>()
    };
    let sizes: Vec<f64> = times.iter().map(|at| size(*at)).collect();
    let shape = Shape::of(&times, &sizes);
    let since = shape.as_ref().map_or(0.0, |shape| shape.since);
    let at = |part: f64| since + (1.0 - since) * part;
    let rises = lifetimes_rise(blocks);
    let rises_on = rises && lifetimes_rise_on(blocks);
    let is_clear = |grown: &Change| grown.deviations() >= SURE;
    let is_likely = |grown: &Change| {
        grown.deviations() >= LIKELY
            && grown.by >= MIN_OF_EXPECTED * (1.0 - HALFWAY) * owned_bytes(blocks)
    };
    // When a queue began to fall behind is not known well, as little is left of its first half.
    let grew = is_clear(&Change::since(blocks, at(HALFWAY)))
        || rises && is_likely(&Change::since(blocks, at(HALFWAY)))
        || rises_on && is_likely(&Change::since(blocks, HALFWAY));
    // What is not collected yet is in both.
    let late_growth = size(1.0) - size(at(LATE));
    // Of what comes and goes the difference is off by chance, and whether it grows is known from lifetimes, too.
    let may_be_off = if rises_on { Change::since(blocks, at(LATE)).squares.sqrt() } else { 0.0 };
    let goes_on =
        |shape: &Shape| grew && late_growth + may_be_off >= STILL * shape.rate * (1.0 - at(LATE));
    let Some(shape) = shape.filter(goes_on) else {
        let is_refuted = [HALFWAY, LATE].iter().any(|part| would_show(blocks, clock, at(*part)))
            || is_renewed(blocks, clock, at(HALFWAY));
        return if is_refuted { Judgement::Steady } else { Judgement::Unknown };
    };
    if shape.since > 0.0 && count < MIN_OWNED_LATE {
        return Judgement::Unknown;
    }
    // So much of what is not freed is owned; the rest is to be collected.
    let undead = blocks.iter().filter(|block| block.is_alive(1.0)).count();
    let part = count as f64 / undead.max(1) as f64;
    let seconds = (clock.time(LOOKED_AT) - clock.time(shape.since)).max(f64::MIN_POSITIVE);
    Judgement::Grows(GrowthRate {
        rate: Estimate {
            value: shape.grown / seconds * part,
            stderr: Change::since(blocks, shape.since).squares.sqrt() / seconds,
        },
        since: if shape.since > 0.0 { clock.time(shape.since) } else { 0.0 },
        grown: shape.grown * part,
        until: None,
        from: "samples",
    })
}

/// Whether steady growth would have shown since a moment, and has not.
pub(super) fn would_show(blocks: &[Lifetime], clock: &Clock, since: f64) -> bool {
    let expected = owned_bytes(blocks) * (1.0 - since);
    let seen = Change::since(blocks, since);
    let squares = expected.mul_add(expected_block(blocks, clock), seen.squares);
    expected - seen.by > SURE * squares.sqrt()
}

/// Whether what was allocated before a moment is gone, where of steady growth some would be left, and lifetimes do not rise.
fn is_renewed(blocks: &[Lifetime], clock: &Clock, before: f64) -> bool {
    let expected = owned_bytes(blocks) * before;
    let old = blocks.iter().filter(|block| block.is_owned && block.allocated <= before);
    let old: f64 = old.map(|block| block.bytes).sum();
    let freed = blocks.iter().filter(|block| block.freed.is_some()).count();
    freed >= MIN_FREED
        && expected - old > SURE * (expected * expected_block(blocks, clock)).sqrt()
        && !lifetimes_rise(blocks)
}

/// For how much a block stands of those that are expected where nothing was sampled.
fn expected_block(blocks: &[Lifetime], clock: &Clock) -> f64 {
    let owned = blocks.iter().filter(|block| block.is_owned);
    let squares: f64 = owned.map(|block| block.bytes * block.bytes).sum();
    clock.late_bytes().max(squares / owned_bytes(blocks).max(f64::MIN_POSITIVE))
}

/// What an owner has at the end.
fn owned_bytes(blocks: &[Lifetime]) -> f64 {
    blocks.iter().filter(|block| block.is_owned).map(|block| block.bytes).sum()
}

/// By how much more is owned at the end than was there before.
struct Change {
    by: f64,
    /// Its variance: the squares of what all blocks stand for that came or went.
    squares: f64,
}

impl Change {
    fn since(blocks: &[Lifetime], before: f64) -> Self {
        let mut change = Self { by: 0.0, squares: 0.0 };
        for block in blocks {
            let by = match (block.is_alive(before), block.is_owned) {
                (false, true) => block.bytes,
                (true, false) => -block.bytes,
                _ => continue,
            };
            change.by += by;
            change.squares = by.mul_add(by, change.squares);
        }
        change
    }

    /// In standard errors.
    fn deviations(&self) -> f64 {
        if self.squares > 0.0 { self.by / self.squares.sqrt() } else { 0.0 }
    }
}

/// Whether blocks live the longer the later they are allocated, as in a queue that falls behind (Kendall). At a steady rate
/// of allocation, what is alive grows as lifetimes do. Of late blocks only short lives are known, which is no rise.
fn lifetimes_rise(blocks: &[Lifetime]) -> bool {
    rise(&lives(blocks, 0.0)) >= SURE
}

/// Whether they likely still do: a queue that fell behind for a while, and does not any more, has long lives that are all the
/// same.
fn lifetimes_rise_on(blocks: &[Lifetime]) -> bool {
    let freed = blocks.iter().filter(|block| block.freed.is_some());
    let last = freed.map(|block| block.allocated).fold(0.0, f64::max);
    rise(&lives(blocks, last / 2.0)) >= LIKELY
}

/// How long blocks lived that were allocated since a moment and freed, in the order of their allocation.
fn lives(blocks: &[Lifetime], since: f64) -> Vec<f64> {
    let lives = |block: &Lifetime| Some((block.allocated, block.freed? - block.allocated));
    let mut lives: Vec<(f64, f64)> =
        blocks.iter().filter(|block| block.allocated >= since).filter_map(lives).collect();
    lives.sort_by(|a, b| a.0.total_cmp(&b.0));
    let step = lives.len().div_ceil(COMPARED).max(1);
    lives.iter().step_by(step).map(|(_, life)| *life).collect()
}

/// By how many deviations there are more pairs of which the later lived longer (Kendall).
fn rise(lives: &[f64]) -> f64 {
    let mut rises = 0_i64;
    for (place, later) in lives.iter().enumerate() {
        for earlier in &lives[..place] {
            let longer = later - earlier;
            rises += if longer.abs() < SAME { 0 } else { longer.signum() as i64 };
        }
    }
    let n = lives.len() as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    if n > 1.0 { rises as f64 / variance.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks that are allocated evenly, with what becomes of each.
    fn blocks(freed: impl Fn(f64) -> Option<f64>) -> Vec<Lifetime> {
        let times = (0..500).map(|number| f64::from(number) / 500.0);
        let known = |at: f64| freed(at).filter(|freed| *freed <= 1.0);
        let block = |at: f64| Lifetime {
            allocated: at,
            freed: known(at),
            bytes: 8_000.0,
            size: 800,
            is_owned: known(at).is_none(),
        };
        times.map(block).collect()
    }

    fn judge(freed: impl Fn(f64) -> Option<f64>) -> Judgement {
        by_samples(&blocks(freed), &Clock::even(100.0))
    }

    fn grows(judgement: Judgement) -> GrowthRate {
        let Judgement::Grows(growth) = judgement else { panic!("{judgement:?}") };
        growth
    }

    #[test]
    fn what_is_never_freed_grows_at_its_rate() {
        let growth = grows(judge(|_| None));
        assert!((growth.rate.value - 40_000.0).abs() < 2_000.0, "{growth:?}");
        assert!(growth.rate.stderr > 0.0 && growth.rate.stderr < 4_000.0, "{growth:?}");
        assert!(growth.since.abs() < f64::EPSILON, "{growth:?}");
    }

    #[test]
    fn what_began_late_says_since_when() {
        let growth = grows(judge(|at| (at < 0.5).then_some(at)));
        assert!((44.0..58.0).contains(&growth.since), "{growth:?}");
        assert!((growth.rate.value - 40_000.0).abs() < 6_000.0, "{growth:?}");
    }

    /// Of the instructions of `ocamlopt`, which it lists in its last step, 13 blocks were sampled.
    #[test]
    fn a_few_late_blocks_are_not_judged() {
        let late: Vec<Lifetime> =
            blocks(|at| (at < 0.5).then_some(at)).into_iter().step_by(20).collect();
        assert_eq!(by_samples(&late, &Clock::even(100.0)), Judgement::Unknown);
        let more: Vec<Lifetime> =
            blocks(|at| (at < 0.5).then_some(at)).into_iter().step_by(10).collect();
        grows(by_samples(&more, &Clock::even(100.0)));
    }

    #[test]
    fn what_falls_behind_grows() {
        // Each third one stays for ever, in the order of a queue.
        let growth = grows(judge(|at| Some(at * 1.5)));
        assert!((growth.rate.value - 13_333.0).abs() < 2_000.0, "{growth:?}");
    }

    #[test]
    fn what_has_a_bound_does_not_grow() {
        assert_eq!(judge(|at| Some(at + 0.3)), Judgement::Steady);
        assert_eq!(judge(|at| Some(at + 0.05)), Judgement::Steady);
        // Filled early, and kept.
        assert_eq!(judge(|at| (at > 0.25).then_some(at)), Judgement::Steady);
        // Filled and emptied in turn.
        assert_eq!(judge(|at| Some((at * 7.5).ceil() / 7.5)), Judgement::Steady);
        let few: Vec<Lifetime> = blocks(|_| None).into_iter().step_by(100).collect();
        assert_eq!(by_samples(&few, &Clock::even(100.0)), Judgement::Unknown);
    }

    /// What was removed and not collected yet looks as if it were owned.
    #[test]
    fn garbage_that_is_collected_late_does_not_grow() {
        let mut blocks = blocks(|at| Some(((at + 0.2) * 2.5).ceil() / 2.5));
        for block in &mut blocks {
            block.is_owned = block.allocated > 0.8;
        }
        assert_eq!(by_samples(&blocks, &Clock::even(100.0)), Judgement::Steady);
    }

    /// Numbers from 0 to 1 in no order.
    fn random(mut state: u64) -> impl FnMut() -> f64 {
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        }
    }

    /// How many of 200 recordings of a program are judged to grow, and how many cannot be judged. `owned` sampled blocks are
    /// alive at the end, on average; `rate` is that of sampling at each time.
    fn draws(
        owned: f64,
        rate: impl Fn(f64) -> f64,
        freed: impl Fn(f64) -> Option<f64>,
    ) -> (usize, usize) {
        let freed = |at: f64| freed(at).filter(|freed| *freed <= 1.0);
        let steps = || (0..1_000).map(|step| f64::from(step) / 1_000.0);
        let alive: f64 = steps().filter(|at| freed(*at).is_none()).map(&rate).sum();
        let mut random = random(7);
        let clock = Clock::even_at(1.0, 1.0 / rate(1.0));
        let (mut grow, mut unknown) = (0, 0);
        for _ in 0..200 {
            let is_sampled = |at: &f64| random() < owned * rate(*at) / alive;
            let blocks: Vec<Lifetime> = steps()
                .filter(is_sampled)
                .map(|at| Lifetime {
                    allocated: at,
                    freed: freed(at),
                    bytes: 1.0 / rate(at),
                    size: 1,
                    is_owned: freed(at).is_none(),
                })
                .collect();
            match by_samples(&blocks, &clock) {
                Judgement::Grows(_) => grow += 1,
                Judgement::Unknown => unknown += 1,
                Judgement::Steady => {}
            }
        }
        (grow, unknown)
    }

    /// Of leaks with few samples some were said not to grow any more.
    #[test]
    fn few_samples_are_enough_or_said_to_be_too_few() {
        let even = |_: f64| 1.0;
        // Halved again and again, as of a program that allocates much.
        let falls = |at: f64| if at < 0.1 { 1.0 } else { 0.125 };
        for (owned, least) in [(40.0, 190), (20.0, 160), (8.0, 0)] {
            let (grow, unknown) = draws(owned, even, |_| None);
            assert!(grow >= least && grow + unknown >= 198, "{owned}: {grow}, {unknown}");
        }
        for (owned, least) in [(80.0, 190), (40.0, 130), (20.0, 0)] {
            let (grow, unknown) = draws(owned, falls, |_| None);
            assert!(grow >= least && grow + unknown >= 198, "{owned}: {grow}, {unknown}");
        }
        // A queue that falls behind: nothing of its first half is left.
        for (owned, least) in [(100.0, 195), (40.0, 185), (20.0, 150)] {
            for (grow, unknown) in
                [draws(owned, even, |at| Some(at * 1.5)), draws(owned, falls, |at| Some(at * 1.5))]
            {
                assert!(grow >= least && grow + unknown >= 195, "{owned}: {grow}, {unknown}");
            }
        }
        let bounded: [fn(f64) -> Option<f64>; 4] = [
            |at| Some(at + 0.2),
            |at| Some(at + 0.05),
            |at| (at > 0.2).then_some(at + 0.01),
            |at| Some((at * 12.0).ceil() / 12.0 - 0.02),
        ];
        for freed in bounded {
            for owned in [10.0, 20.0, 40.0] {
                for grow in [draws(owned, even, freed).0, draws(owned, falls, freed).0] {
                    assert!(grow <= 4, "{owned}: {grow}");
                }
            }
        }
    }

    /// A queue that fell behind for half of the time, and does not any more, has grown all the same; few samples do not tell
    /// in one of eight cases.
    #[test]
    fn a_queue_that_does_not_fall_behind_any_more_is_mostly_cleared_or_not_judged() {
        for owned in [10.0, 20.0, 40.0, 80.0] {
            let (grow, _) = draws(owned, |_| 1.0, |at| Some(at + (at / 2.0).min(1.0 / 6.0)));
            assert!(grow <= 25, "{owned}: {grow}");
        }
    }

    /// Sizes in no order look as if they grew once in a hundred times at most.
    #[test]
    fn noise_does_not_grow() {
        let mut random = random(7);
        let mut wrong = 0;
        for _ in 0..400 {
            let blocks: Vec<Lifetime> = (0..300)
                .map(|_| {
                    let allocated = random();
                    let freed = allocated + 0.02 + random() * 0.15;
                    let freed = (freed <= 1.0).then_some(freed);
                    Lifetime {
                        allocated,
                        freed,
                        bytes: 8_000.0,
                        size: 800,
                        is_owned: freed.is_none(),
                    }
                })
                .collect();
            wrong +=
                usize::from(matches!(by_samples(&blocks, &Clock::even(1.0)), Judgement::Grows(_)));
        }
        assert!(wrong <= 4, "{wrong}");
    }
}
