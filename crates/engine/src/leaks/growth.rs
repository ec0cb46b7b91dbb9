//! Whether an owner grows: from its exact sizes in several snapshots, or from when its sampled blocks were allocated
//! and freed.
//!
//! The rate is the median of the slopes between all pairs of points (Theil and Sen): one size that is far off, or a
//! dip, does not change it much. It is judged by the order of sizes ([`Trend`]), and by whether it still grows: what
//! was filled early, or has reached its bound, does not.
//!
//! Sampled blocks are judged by the clock of allocation ([`Clock`]). Its youngest tenth is not
//! looked at: what was allocated there may be in use still.

use memtrail_heap::query::Trend;
use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use super::clock::Clock;

/// What grows by a smaller part of all that is alive is no suspect.
pub(super) const MIN_SHARE: f64 = 0.03;
/// Points in time at which sampled blocks are counted.
const POINTS: usize = 24;
/// The part of all allocation that is looked at.
pub(super) const LOOKED_AT: f64 = 0.9;
/// By how many standard errors a number of sampled blocks has to grow.
const DEVIATIONS: f64 = 3.0;
/// How much the rate at the end may be below that of the whole time.
const STILL: f64 = 0.25;
/// There has to be clearly more at the end than here.
const HALFWAY: f64 = 0.4;
/// From here on, what grew has to have grown on.
const LATE: f64 = 0.7;
/// What had this part of its size when half of the time was over was filled early.
const FILLED: f64 = 0.9;
/// Snapshots that are needed to judge by them alone.
pub(super) const MIN_SNAPSHOTS: usize = 5;
/// What has grown by this part of all that it will is not at its beginning any more.
const BEGINNING: f64 = 0.05;
/// What begins within this part of the time begins with the program.
const EARLY: f64 = 0.15;

/// How something grows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GrowthRate {
    /// Bytes a second.
    pub rate: Estimate,
    /// Since when, in seconds since the start; 0 if since then.
    pub since: f64,
    /// Bytes by which it grew since.
    pub grown: f64,
    /// Until when, if the program has allocated hardly anything since.
    pub until: Option<f64>,
    /// What is known of it: `snapshots`, exactly, `samples`, or `sizes` of blocks that replaced each other.
    pub from: &'static str,
}

/// What was found about growth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Judgement {
    Grows(GrowthRate),
    /// Nothing to judge by.
    Unknown,
    /// It does not.
    Steady,
}

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

/// Judges by sampled blocks; the clock tells times.
///
/// What is freed is known only once it was collected, so that of earlier moments there are upper bounds. What is owned
/// at the end is known exactly: if that is clearly more than there was before, it grew.
pub(super) fn by_samples(blocks: &[Lifetime], clock: &Clock) -> Judgement {
    let owned = || blocks.iter().filter(|block| block.is_owned);
    if owned().count() < (DEVIATIONS * DEVIATIONS) as usize {
        return Judgement::Unknown;
    }
    let times: Vec<f64> =
        (0..=POINTS).map(|point| LOOKED_AT * point as f64 / POINTS as f64).collect();
    let size = |at: f64| {
        let alive = blocks.iter().filter(|block| block.is_alive(at));
        alive.map(|block| block.bytes).sum::<f64>()
    };
    let sizes: Vec<f64> = times.iter().map(|at| size(*at)).collect();
    let Some(shape) = Shape::of(&times, &sizes) else { return Judgement::Steady };
    let at = |part: f64| shape.since + (1.0 - shape.since) * part;
    let (more, fewer) = changed(blocks, at(HALFWAY));
    let is_clear = more > fewer && more - fewer >= DEVIATIONS * (more + fewer).sqrt();
    // What is not collected yet is in both.
    let late_growth = size(1.0) - size(at(LATE));
    if !is_clear || late_growth < STILL * shape.rate * (1.0 - at(LATE)) {
        return Judgement::Steady;
    }
    // So much of what is not freed is owned; the rest is to be collected.
    let undead = blocks.iter().filter(|block| block.is_alive(1.0)).count();
    let part = owned().count() as f64 / undead.max(1) as f64;
    let seconds = (clock.time(LOOKED_AT) - clock.time(shape.since)).max(f64::MIN_POSITIVE);
    let (more, fewer) = changed(blocks, shape.since);
    let bytes_per_block = blocks.iter().map(|block| block.bytes).sum::<f64>() / blocks.len() as f64;
    Judgement::Grows(GrowthRate {
        rate: Estimate {
            value: shape.grown / seconds * part,
            stderr: (more + fewer).sqrt() * bytes_per_block / seconds,
        },
        since: if shape.since > 0.0 { clock.time(shape.since) } else { 0.0 },
        grown: shape.grown * part,
        until: None,
        from: "samples",
    })
}

impl Lifetime {
    fn is_alive(&self, at: f64) -> bool {
        self.allocated <= at && self.freed.is_none_or(|freed| freed > at)
    }
}

/// How many blocks are owned at the end that were not there before, and the other way round.
fn changed(blocks: &[Lifetime], before: f64) -> (f64, f64) {
    let (mut more, mut fewer) = (0.0, 0.0);
    for block in blocks {
        match (block.is_alive(before), block.is_owned) {
            (false, true) => more += 1.0,
            (true, false) => fewer += 1.0,
            _ => {}
        }
    }
    (more, fewer)
}

/// Judges by exact sizes at some times.
pub(super) fn by_snapshots(times: &[f64], sizes: &[u64]) -> Judgement {
    if times.len() < MIN_SNAPSHOTS || times.len() != sizes.len() {
        return Judgement::Unknown;
    }
    let exact: Vec<f64> = sizes.iter().map(|size| *size as f64).collect();
    let middle = f64::midpoint(times[0], times[times.len() - 1]);
    if size_at(times, sizes, middle) >= FILLED * exact[exact.len() - 1] {
        return Judgement::Steady;
    }
    match Shape::of(times, &exact) {
        Some(shape) => Judgement::Grows(GrowthRate {
            rate: Estimate { value: shape.rate, stderr: shape.stderr },
            since: shape.since,
            grown: shape.grown,
            until: None,
            from: "snapshots",
        }),
        None => Judgement::Steady,
    }
}

/// Whether growth of exact sizes agrees with when what is alive was allocated, in seconds with samples.
///
/// What several roots reach is attributed to one of them, and that changes from snapshot to snapshot: sizes of owners grow
/// when they are given what is old. Of what was allocated while it grew, clearly fewer must not be recent.
pub(super) fn agrees(
    judgement: &Judgement,
    times: &[f64],
    sizes: &[u64],
    allocated: &[(f64, u64)],
) -> bool {
    let (Judgement::Grows(growth), Some(end), Some(last)) =
        (judgement, times.last(), sizes.last().filter(|last| **last > 0))
    else {
        return true;
    };
    let since = if growth.since > 0.0 { growth.since } else { times[0] };
    let middle = f64::midpoint(since, *end);
    // By the rate: one size in the middle may be far off.
    let recent_part = (growth.rate.value * (end - middle) / *last as f64).min(1.0);
    // Of samples, as blocks were not all sampled at the same rate.
    let sum = |blocks: &mut dyn Iterator<Item = &(f64, u64)>| {
        blocks.fold((0.0, 0.0), |(sum, squares), (_, samples)| {
            let samples = *samples as f64;
            (sum + samples, samples.mul_add(samples, squares))
        })
    };
    let (all, _) = sum(&mut allocated.iter());
    let (recent, variance) = sum(&mut allocated.iter().filter(|(at, _)| *at > middle));
    // None may be recent by chance, where few are expected.
    let one = allocated.iter().map(|(_, samples)| *samples as f64).fold(0.0, f64::max);
    recent + DEVIATIONS * one.mul_add(one, variance).sqrt() >= recent_part * all
}

/// The size at a time, between snapshots on the line from one to the next.
fn size_at(times: &[f64], sizes: &[u64], at: f64) -> f64 {
    let next = times.partition_point(|time| *time < at).min(times.len() - 1);
    let before = next.saturating_sub(1);
    let [from, to] = [sizes[before] as f64, sizes[next] as f64];
    let span = times[next] - times[before];
    let part = if span > 0.0 { ((at - times[before]) / span).clamp(0.0, 1.0) } else { 1.0 };
    (to - from).mul_add(part, from)
}

/// What is found of sizes that grow, and still do.
struct Shape {
    rate: f64,
    /// By the ranks of slopes, where points are independent.
    stderr: f64,
    since: f64,
    grown: f64,
}

impl Shape {
    fn of(times: &[f64], sizes: &[f64]) -> Option<Self> {
        let whole: Vec<u64> = sizes.iter().map(|size| size.max(0.0) as u64).collect();
        Trend::new(whole.len()).growth(&whole)?;
        let quarter = (sizes.len() / 4).max(1);
        let first = median(&mut sizes[..quarter].to_vec());
        let last = median(&mut sizes[sizes.len() - quarter..].to_vec());
        let low = first + (last - first) * BEGINNING;
        let begins = sizes.iter().rposition(|size| *size <= low).unwrap_or(0);
        // What was low once more at the very end has dipped, and not begun anew.
        let begins = if begins + quarter >= sizes.len() { 0 } else { begins };
        // What began soon after the program did so with it.
        let is_early = times[begins] - times[0] < (times[times.len() - 1] - times[0]) * EARLY;
        let begins = if is_early { 0 } else { begins };
        let (times, sizes) = (&times[begins..], &sizes[begins..]);
        let (rate, stderr) = slope(times, sizes)?;
        let third = (sizes.len() / 3).max(2).min(sizes.len());
        let (end_rate, _) = slope(&times[sizes.len() - third..], &sizes[sizes.len() - third..])?;
        let span = times.last()? - times.first()?;
        (rate > 0.0 && end_rate >= rate * STILL).then(|| Self {
            rate,
            stderr,
            since: if begins == 0 { 0.0 } else { times[0] },
            grown: rate * span,
        })
    }
}

/// The median of the slopes between all pairs of points, and the half of the range that has it in two of three
/// cases.
fn slope(times: &[f64], sizes: &[f64]) -> Option<(f64, f64)> {
    let mut slopes = Vec::new();
    for (place, (time, size)) in times.iter().zip(sizes).enumerate() {
        for (earlier, before) in times.iter().zip(sizes).take(place) {
            if time > earlier {
                slopes.push((size - before) / (time - earlier));
            }
        }
    }
    if slopes.is_empty() {
        return None;
    }
    slopes.sort_by(f64::total_cmp);
    let n = times.len() as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let middle = slopes.len() as f64 / 2.0;
    let at = |rank: f64| slopes[(rank.max(0.0) as usize).min(slopes.len() - 1)];
    let stderr = (at(middle + deviation / 2.0) - at(middle - deviation / 2.0)) / 2.0;
    Some((median(&mut slopes), stderr))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[odd / 2],
        even => f64::midpoint(values[even / 2 - 1], values[even / 2]),
    }
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

    #[test]
    fn exact_sizes_have_dips() {
        let times: Vec<f64> = (0..12).map(f64::from).collect();
        let mut sizes: Vec<u64> = (0..12).map(|number| 1_000 + number * 100).collect();
        sizes[6] = 10;
        let growth = grows(by_snapshots(&times, &sizes));
        assert!((growth.rate.value - 100.0).abs() < 10.0, "{growth:?}");
        let filled: Vec<u64> = (0..12).map(|number| 1_000 + number.min(4) * 100).collect();
        assert_eq!(by_snapshots(&times, &filled), Judgement::Steady);
        assert_eq!(by_snapshots(&times[..4], &sizes[..4]), Judgement::Unknown);
    }

    /// The environment of `coqc` was attributed to its variable step by step, and allocated when libraries were loaded.
    #[test]
    fn what_is_old_and_attributed_anew_does_not_grow() {
        let times: Vec<f64> = (0..6).map(|number| f64::from(number) * 9.0).collect();
        let sizes = [0, 68_496, 42_601_856, 7_058_064, 63_408_128, 67_794_248];
        let judgement = by_snapshots(&times, &sizes);
        grows(judgement);
        let old: Vec<(f64, u64)> = (0..30).map(|number| (f64::from(number) / 20.0, 1)).collect();
        assert!(!agrees(&judgement, &times, &sizes, &old));
        let even: Vec<(f64, u64)> = (0..30).map(|number| (f64::from(number) * 1.5, 1)).collect();
        assert!(agrees(&judgement, &times, &sizes, &even));
        // Of few that were sampled none is recent by chance.
        assert!(agrees(&judgement, &times, &sizes, &old[..5]));
        assert!(agrees(&judgement, &times, &sizes, &[]));
        assert!(agrees(&Judgement::Steady, &times, &sizes, &old));
    }

    /// The instructions of `ocamlopt` were complete before it waited for the assembler.
    #[test]
    fn what_was_filled_before_a_long_wait_does_not_grow() {
        let times = [54.0, 60.0, 63.0, 67.0, 70.0, 75.0, 81.0, 90.0, 264.0];
        let sizes = [0, 0, 0, 0, 1_168, 28_989_952, 81_670_400, 121_614_512, 121_614_512];
        assert_eq!(by_snapshots(&times, &sizes), Judgement::Steady);
    }

    /// Sizes in no order look as if they grew once in a hundred times at most.
    #[test]
    fn noise_does_not_grow() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
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
