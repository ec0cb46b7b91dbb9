//! Whether sizes grow, and an owner by its exact sizes in several snapshots.
//!
//! The rate is the median of the slopes between all pairs of points (Theil and Sen): one size that is far off, or a
//! dip, does not change it much. It is judged by the order of sizes ([`Trend`]), and by whether it still grows: what
//! was filled early, or has reached its bound, does not.

use memtrail_heap::query::Trend;
use memtrail_profile::estimate::Estimate;
use serde::Serialize;

/// What grows by a smaller part of all that is alive is no suspect.
pub(super) const MIN_SHARE: f64 = 0.03;
/// By how many standard errors fewer sampled blocks have to be recent than expected.
const DEVIATIONS: f64 = 3.0;
/// How much the rate at the end may be below that of the whole time.
pub(super) const STILL: f64 = 0.25;
/// What had this part of its size when half of the time was over was filled early.
const FILLED: f64 = 0.9;
/// Snapshots that are needed to judge by them alone.
pub(super) const MIN_SNAPSHOTS: usize = 5;
/// With fewer than those, it is judged by them only if samples are too few, and only if it grew evenly from nothing.
pub(super) const MIN_EVEN: usize = 3;
/// How much the rate between two of them may differ from that of the whole time.
const EVEN: f64 = 0.25;
/// Part of the time that has to be between them.
const MIN_BETWEEN: f64 = 0.05;
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
    /// What is known of it: `snapshots`, exactly, `samples`, `sizes` of blocks that replaced each other, or `threads` that were
    /// started and have not ended.
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
        Some(shape) if shape.end_rate >= shape.rate * STILL => Judgement::Grows(GrowthRate {
            rate: Estimate { value: shape.rate, stderr: shape.stderr },
            since: shape.since,
            grown: shape.grown,
            until: None,
            from: "snapshots",
        }),
        _ => Judgement::Steady,
    }
}

/// Judges by so few exact sizes that they would rise by chance, too: what had nothing when the program started, and grew at
/// the same rate until each of them, does not do so by chance.
pub(super) fn by_few_snapshots(times: &[f64], sizes: &[u64]) -> Judgement {
    let points = apart(times, sizes);
    let Some((end, last)) = points.last().copied().filter(|(_, last)| *last > 0.0) else {
        return Judgement::Unknown;
    };
    if points.len() < MIN_EVEN {
        return Judgement::Unknown;
    }
    let rate = last / end.max(f64::MIN_POSITIVE);
    let starts = std::iter::once(&(0.0, 0.0)).chain(&points);
    let offs = starts.zip(&points).map(|((since, before), (at, size))| {
        (size - before) / (at - since).max(f64::MIN_POSITIVE) - rate
    });
    let offs: Vec<f64> = offs.collect();
    if offs.iter().any(|off| off.abs() > rate * EVEN) {
        return Judgement::Unknown;
    }
    let count = offs.len() as f64;
    let squares: f64 = offs.iter().map(|off| off * off).sum();
    Judgement::Grows(GrowthRate {
        rate: Estimate { value: rate, stderr: (squares / (count * (count - 1.0))).sqrt() },
        since: 0.0,
        grown: last,
        until: None,
        from: "snapshots",
    })
}

/// The last size, and those before it that are far enough from each other and from the start to tell something.
fn apart(times: &[f64], sizes: &[u64]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let end = times.last().copied().unwrap_or(0.0);
    let mut next = end;
    for (at, size) in times.iter().zip(sizes).rev() {
        let is_apart = points.is_empty() || next - at >= end * MIN_BETWEEN;
        if is_apart && *at >= end * MIN_BETWEEN {
            points.push((*at, *size as f64));
            next = *at;
        }
    }
    points.reverse();
    points
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

/// What is found of sizes that grow.
pub(super) struct Shape {
    pub(super) rate: f64,
    /// By the ranks of slopes, where points are independent.
    stderr: f64,
    pub(super) since: f64,
    pub(super) grown: f64,
    /// The rate in the last third.
    end_rate: f64,
}

impl Shape {
    /// Nothing of sizes that do not.
    pub(super) fn of(times: &[f64], sizes: &[f64]) -> Option<Self> {
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
        let span = times.last()? - times.first()?;
        let third = last_third(times, span);
        let (end_rate, _) = slope(&times[third..], &sizes[third..])?;
        (rate > 0.0).then(|| Self {
            rate,
            stderr,
            since: if begins == 0 { 0.0 } else { times[0] },
            grown: rate * span,
            end_rate,
        })
    }
}

/// Where the last third of points begins, or that of the time, if that is earlier: snapshots may come in quick succession.
fn last_third(times: &[f64], span: f64) -> usize {
    let third = (times.len() / 3).max(2).min(times.len());
    let from = times.last().map_or(0.0, |last| last - span / 3.0);
    let in_time = times.partition_point(|at| *at < from).saturating_sub(1);
    in_time.min(times.len() - third)
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

    fn grows(judgement: Judgement) -> GrowthRate {
        let Judgement::Grows(growth) = judgement else { panic!("{judgement:?}") };
        growth
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

    /// A leak whose last two of eight snapshots were a hundredth of the time apart did "not grow any more".
    #[test]
    fn snapshots_in_quick_succession_at_the_end_do_not_decide() {
        let times = [0.02, 0.19, 0.34, 0.51, 0.69, 0.86, 0.96, 0.97];
        let sizes = [722, 8_293, 14_558, 16_907, 23_172, 28_654, 30_120, 30_120];
        grows(by_snapshots(&times, &sizes));
        // What was full after half of the time is, however many come at the end.
        let full = [722, 8_293, 14_558, 20_000, 23_172, 23_172, 23_172, 23_172];
        assert_eq!(by_snapshots(&times, &full), Judgement::Steady);
    }

    /// Queues and threads that leak had too few samples, and three snapshots.
    #[test]
    fn few_snapshots_are_enough_for_what_grows_evenly() {
        let sizes = [1_050_000, 2_100_000, 2_900_000];
        let growth = grows(by_few_snapshots(&[10.0, 20.0, 30.0], &sizes));
        assert!((growth.rate.value - 96_667.0).abs() < 1.0, "{growth:?}");
        assert!(growth.rate.stderr > 0.0 && growth.rate.stderr < 10_000.0, "{growth:?}");
        for (times, sizes) in [
            // A cache that was filled at the start, and one that was filled half.
            ([10.0, 20.0, 30.0], [3_000_000, 3_000_000, 3_000_000]),
            ([10.0, 20.0, 30.0], [1_500_000, 2_250_000, 3_000_000]),
            // What is emptied now and then.
            ([10.0, 20.0, 30.0], [1_000_000, 100_000, 1_100_000]),
            // A step of a task.
            ([10.0, 20.0, 30.0], [0, 0, 3_000_000]),
            // All of them taken at once.
            ([29.0, 29.5, 30.0], [2_900_000, 2_950_000, 3_000_000]),
        ] {
            assert_eq!(by_few_snapshots(&times, &sizes), Judgement::Unknown, "{sizes:?}");
        }
        assert_eq!(by_few_snapshots(&[10.0, 20.0], &[1_000, 2_000]), Judgement::Unknown);
        // The first collection ends when the program has hardly begun.
        let sizes = [20_000, 1_050_000, 2_100_000, 2_900_000];
        grows(by_few_snapshots(&[0.3, 10.0, 20.0, 30.0], &sizes));
        assert_eq!(
            by_few_snapshots(&[0.3, 20.0, 30.0], &[20_000, 2_000_000, 3_000_000]),
            Judgement::Unknown
        );
        assert_eq!(by_few_snapshots(&[], &[]), Judgement::Unknown);
    }

    /// Sizes in no order rise evenly once in a hundred times at most.
    #[test]
    fn few_snapshots_do_not_rise_evenly_by_chance() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 43
        };
        for (times, most) in
            [(&[1.0, 2.0, 3.0][..], 100), (&[0.2, 1.5, 3.0], 100), (&[1.0, 2.0, 3.0, 4.0], 20)]
        {
            let is_wrong = |_: &u32| {
                let sizes: Vec<u64> = times.iter().map(|_| random()).collect();
                by_few_snapshots(times, &sizes) != Judgement::Unknown
            };
            let wrong = (0..10_000).filter(is_wrong).count();
            assert!(wrong <= most, "{wrong} of 10,000 with {} snapshots", times.len());
        }
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
}
