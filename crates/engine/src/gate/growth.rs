//! How fast what is alive may grow, judged over the second half of the recording: what is filled at the start is no
//! growth.
//!
//! Memory that is alive includes what is not collected yet, so that it rises and falls with each major collection. Of
//! each of [`WINDOWS`] stretches of time the moment is taken at which least was alive: soon after a collection, if
//! there was one. The growth is the slope of the line through these by least squares. That is a sum over blocks,
//! each times a number that depends only on when it was alive, so its sampling error follows from the samples, with
//! all correlations. What is left of the ups and downs is added as residuals of the line are, and widened by their
//! correlation.
//!
//! A program that frees its memory itself has no such ups and downs. It is judged until it begins to end: exit handlers and
//! destructors free what it had.
//!
//! If the collector freed too seldom for that, what was not collected cannot be told from what grows. Then the last
//! snapshot may still show that it grew: what is reachable in it, exactly, less all that was alive at half time.

use memtrail_profile::Profile;
use memtrail_profile::blocks::Row;
use memtrail_profile::estimate::{Estimate, Sum};
use memtrail_profile::time::Elapsed;
use memtrail_text::rounded::{bytes, bytes_with_error, percent, seconds};
use memtrail_trace::Source;

use super::limit::{Gate, GrowthLimit};
use super::response::{GateResult, Measure, Verdict, sure};
use super::test::{Test, deviations};
use crate::leaks::sites::end_of_work;
use crate::recording::Recording;
use memtrail_stats::normal_of_student;

/// Stretches of time whose lowest moments are looked at.
const WINDOWS: usize = 12;
/// In so many of them the collector has to have freed something of the major heap.
const MIN_COLLECTED: usize = 8;
/// Points of the curve in each.
const POINTS: usize = 32;
/// The most that neighbouring residuals are taken to be alike.
const MAX_ALIKE: f64 = 0.9;
/// Fewer blocks than that tell nothing.
const MIN_BLOCKS: usize = 20;
const MINUTE: f64 = 60.0;

/// Judges the growth; `last` is the last snapshot: when it was taken, and what it has in the major heap.
pub(super) fn judge(
    recording: &Recording,
    gate: &Gate,
    most: GrowthLimit,
    last: Option<(f64, u64)>,
    tests: usize,
) -> GateResult {
    let profile = recording.profile();
    if profile.blocks.len() < MIN_BLOCKS {
        let reason = format!(
            "only {} sampled: raise --rate, or run it for longer",
            match profile.blocks.len() {
                1 => "1 block was".to_owned(),
                blocks => format!("{blocks} blocks were"),
            }
        );
        return GateResult::unknown(gate, Measure::BytesPerSecond, reason);
    }
    let line = match moments(recording) {
        Ok(moments) => Line::new(profile, &moments, most),
        Err(collected) => {
            let reached = last.and_then(|last| since_half_time(profile, gate, most, last, tests));
            return reached.unwrap_or_else(|| {
                let reason = format!(
                    "the collector freed blocks of the major heap in only {collected} of {WINDOWS} parts of the \
                     second half, so that growth cannot be told from what is not collected yet: run it for longer",
                );
                GateResult::unknown(gate, Measure::BytesPerSecond, reason)
            });
        }
    };
    let above = normal_of_student(deviations(line.excess, line.stderr, 0.0), line.freedom);
    let below =
        normal_of_student(deviations(-line.excess, line.stderr, f64::INFINITY), line.freedom);
    let (verdict, confidence) = Test { above, below, renewals: 0.0, tests }.verdict();
    let limit = limit(most, line.mean);
    let reason = format!(
        "{} on average in the second half, {}; the limit is {} ({})",
        bytes(line.mean),
        grew(line.growth),
        written(most, limit),
        sure(confidence)
    );
    GateResult {
        gate: gate.text.clone(),
        verdict,
        confidence,
        measured: Some(line.growth),
        limit: Some(limit),
        measure: Measure::BytesPerSecond,
        reason,
        details: Vec::new(),
    }
}

/// In bytes a second, where so much is alive.
fn limit(most: GrowthLimit, alive: f64) -> f64 {
    match most {
        GrowthLimit::Bytes(limit) => limit,
        GrowthLimit::Share(share) => share * alive,
    }
}

fn written(most: GrowthLimit, limit: f64) -> String {
    let rate = format!("{} a minute", bytes(limit * MINUTE));
    match most {
        GrowthLimit::Bytes(_) => rate,
        GrowthLimit::Share(share) => format!("{} a minute, {rate}", percent(share * MINUTE)),
    }
}

/// `it grew by 1.2 ±0.1 MiB a minute`.
fn grew(growth: Estimate) -> String {
    let Estimate { value, stderr } = growth;
    let verb = if value < 0.0 { "it fell by" } else { "it grew by" };
    format!("{verb} {} a minute", bytes_with_error(value.abs() * MINUTE, stderr * MINUTE))
}

/// The lowest moments of the second half; or in how many of its parts something was collected, if these are too few.
fn moments(recording: &Recording) -> Result<Vec<Elapsed>, usize> {
    let profile = recording.profile();
    let is_native = recording.description.is_native;
    let end = if is_native { until(recording) } else { profile.end };
    let half = end.0 / 2;
    let width = ((end.0 - half) / WINDOWS as u64).max(1);
    let window =
        |at: Elapsed| ((at.0.saturating_sub(half)) / width).min(WINDOWS as u64 - 1) as usize;
    let mut freed = [false; WINDOWS];
    let blocks = &profile.blocks;
    for &row in blocks.by_collection() {
        let is_major = blocks.source(row) != Source::Minor || blocks.promoted(row).is_some();
        if let Some(at) = blocks.collected(row).filter(|at| is_major && at.0 >= half) {
            freed[window(at)] = true;
        }
    }
    let collected = freed.iter().filter(|freed| **freed).count();
    if collected < MIN_COLLECTED && !is_native {
        return Err(collected);
    }
    let mut lowest: [Option<(u64, Elapsed)>; WINDOWS] = [None; WINDOWS];
    for point in profile.live_series.evenly(end, 2 * WINDOWS * POINTS) {
        if point.time.0 < half || point.time > end {
            continue;
        }
        let alive = point.minor + point.major + point.external;
        let lowest = &mut lowest[window(point.time)];
        if lowest.is_none_or(|(least, _)| alive < least) {
            *lowest = Some((alive, point.time));
        }
    }
    Ok(lowest.into_iter().flatten().map(|(_, time)| time).collect())
}

/// When a program that frees its memory itself begins to end.
fn until(recording: &Recording) -> Elapsed {
    let seconds = end_of_work(recording).0;
    Elapsed((seconds * 1e6) as u64).min(recording.profile().end)
}

/// The line through what was alive at some moments, in bytes and seconds.
#[derive(Debug)]
struct Line {
    growth: Estimate,
    mean: f64,
    /// By how much it grew more than the limit.
    excess: f64,
    stderr: f64,
    freedom: f64,
}

impl Line {
    fn new(profile: &Profile, moments: &[Elapsed], most: GrowthLimit) -> Self {
        let times: Vec<f64> = moments.iter().map(|at| at.seconds()).collect();
        let n = times.len().max(1) as f64;
        let middle = times.iter().sum::<f64>() / n;
        let spread: f64 = times.iter().map(|at| (at - middle).powi(2)).sum();
        let spread = spread.max(f64::MIN_POSITIVE);
        let slope: Vec<f64> = times.iter().map(|at| (at - middle) / spread).collect();
        let share = match most {
            GrowthLimit::Share(share) => share,
            GrowthLimit::Bytes(_) => 0.0,
        };
        // What the limit's part of the mean takes off is a sum over moments, too.
        let excess: Vec<f64> = slope.iter().map(|factor| factor - share / n).collect();
        let mut alive = vec![0.0; times.len()];
        let unit = profile.estimator.bytes_per_sample();
        let (mut slope_variance, mut excess_variance) = (0.0, 0.0);
        let (slope_sums, excess_sums) = (sums(&slope), sums(&excess));
        for row in profile.blocks.rows() {
            let (from, to) = alive_at(profile, row, moments);
            if from == to {
                continue;
            }
            let samples = profile.blocks.samples(row) as f64;
            for alive in &mut alive[from..to] {
                *alive += samples * unit;
            }
            let weight = (1_u64 << profile.blocks.halvings(row).min(63)) as f64;
            let variance = samples * (weight - profile.estimator.rate().0).max(0.0) * unit * unit;
            slope_variance += variance * (slope_sums[to] - slope_sums[from]).powi(2);
            excess_variance += variance * (excess_sums[to] - excess_sums[from]).powi(2);
        }
        let dot = |factors: &[f64]| -> f64 { factors.iter().zip(&alive).map(|(a, b)| a * b).sum() };
        let (growth, mean) = (dot(&slope), alive.iter().sum::<f64>() / n);
        let residuals: Vec<f64> = times
            .iter()
            .zip(&alive)
            .map(|(at, alive)| alive - mean - growth * (at - middle))
            .collect();
        let squares = |factors: &[f64]| factors.iter().map(|factor| factor * factor).sum::<f64>();
        let freedom = (n - 2.0).max(1.0);
        let scatter = squares(&residuals) / freedom * widening(&residuals);
        let absolute = match most {
            GrowthLimit::Bytes(limit) => limit,
            GrowthLimit::Share(_) => 0.0,
        };
        Self {
            growth: Estimate {
                value: growth,
                stderr: (slope_variance + scatter * squares(&slope)).sqrt(),
            },
            mean,
            excess: dot(&excess) - absolute,
            stderr: (excess_variance + scatter * squares(&excess)).sqrt(),
            freedom,
        }
    }
}

/// The sums of the first 0, 1, 2 … of some numbers.
fn sums(factors: &[f64]) -> Vec<f64> {
    let sum = |sum: &mut f64, factor: &f64| {
        *sum += factor;
        Some(*sum)
    };
    std::iter::once(0.0).chain(factors.iter().scan(0.0, sum)).collect()
}

/// At which of the moments a block was alive: from one to before another.
fn alive_at(profile: &Profile, row: Row, moments: &[Elapsed]) -> (usize, usize) {
    let from = moments.partition_point(|at| *at < profile.blocks.allocated(row));
    let to = profile
        .blocks
        .collected(row)
        .map_or(moments.len(), |end| moments.partition_point(|at| *at < end));
    (from, to.max(from))
}

/// How much less neighbouring residuals that are alike tell than independent ones.
fn widening(residuals: &[f64]) -> f64 {
    let all: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let pairs: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let alike = if all > 0.0 { (pairs / all).clamp(0.0, MAX_ALIKE) } else { 0.0 };
    (1.0 + alike) / (1.0 - alike)
}

/// A failure, if the last snapshot alone shows one.
fn since_half_time(
    profile: &Profile,
    gate: &Gate,
    most: GrowthLimit,
    last: (f64, u64),
    tests: usize,
) -> Option<GateResult> {
    let (end, reachable) = (last.0, last.1 as f64);
    let half = Elapsed(profile.end.0 / 2);
    let mut alive = Sum::default();
    for row in profile.blocks.rows().filter(|row| profile.blocks.live_at(*row, half)) {
        profile.estimator.add_row(&mut alive, &profile.blocks, row);
    }
    let before = profile.estimator.bytes(&alive);
    let time = end - half.seconds();
    if time <= 0.0 {
        return None;
    }
    let growth =
        Estimate { value: (reachable - before.value) / time, stderr: before.stderr / time };
    let limit = limit(most, before.value);
    // The limit's part of what was alive has the same error.
    let share = if let GrowthLimit::Share(share) = most { share } else { 0.0 };
    let stderr = growth.stderr * (1.0 + share * time);
    let above = deviations(growth.value - limit, stderr, 0.0);
    let (verdict, confidence) = Test { above, below: 0.0, renewals: 0.0, tests }.verdict();
    (verdict == Verdict::Failed).then(|| GateResult {
        gate: gate.text.clone(),
        verdict,
        confidence,
        measured: Some(growth),
        limit: Some(limit),
        measure: Measure::BytesPerSecond,
        reason: format!(
            "{} were reachable in the snapshot at {}, and no more than {} alive at half time: {} at least; the limit \
             is {} ({})",
            bytes(reachable),
            seconds(end),
            before.size(),
            grew(growth),
            written(most, limit),
            sure(confidence)
        ),
        details: Vec::new(),
    })
}
