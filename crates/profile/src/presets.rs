//! Filters that answer common questions, with the reason in words.

use crate::filter::description::time;
use crate::filter::{Between, Clause, Collected, Condition, Millionths, Moment};
use crate::live_series::Point;
use crate::profile::Profile;
use crate::time::Elapsed;

/// A filter with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// A stable name: `leak`, `peak`, `temporary`, `growth`.
    pub id: &'static str,
    /// What people read.
    pub name: &'static str,
    /// Why these blocks.
    pub why: String,
    /// The filter.
    pub conditions: Vec<Condition>,
}

/// Points of the curve that presets look at.
const POINTS: usize = 512;

/// Where warm-up is taken to end if the curve does not say.
const WARM: Millionths = Millionths(100_000);
/// The youngest tenth is left out of what may have leaked.
const OLD: Millionths = Millionths(900_000);

/// The presets of a recording. Growth is that `between` two moments, or where it is largest.
pub fn presets(profile: &Profile, between: Option<(Elapsed, Elapsed)>) -> Vec<Preset> {
    let points = profile.live_series.points(POINTS);
    let warm = warm_up(&points, profile.end);
    vec![
        leak(warm),
        Preset {
            id: "peak",
            name: "Peak",
            why: format!(
                "live when most was, at {}",
                time(round(profile.live_series.peak().time, profile.end))
            ),
            conditions: vec![condition(Clause::Live(vec![Between::only(Moment::Peak)]))],
        },
        temporary(profile.end),
        growth(&points, between, warm.unwrap_or(Elapsed(profile.end.0 / 10)), profile.end),
    ]
}

fn condition(clause: Clause) -> Condition {
    Condition { not: false, clause }
}

fn leak(warm: Option<Elapsed>) -> Preset {
    let (from, why) = match warm {
        Some(warm) => (Moment::At(warm), format!("{}, when memory settles", time(warm))),
        None => (Moment::Part(WARM), "the first tenth of the time".to_owned()),
    };
    Preset {
        id: "leak",
        name: "Leaks",
        why: format!(
            "allocated after {why}, and still live at the end; the last tenth is left out, as it \
             may be in use"
        ),
        conditions: vec![
            condition(Clause::Allocated(vec![Between::both(from, Moment::Part(OLD))])),
            condition(Clause::Live(vec![Between::only(Moment::End)])),
        ],
    }
}

fn temporary(end: Elapsed) -> Preset {
    let short = Elapsed((end.0 / 100).clamp(1_000, 1_000_000));
    Preset {
        id: "temporary",
        name: "Temporary",
        why: format!(
            "collected within {} of their allocation: they cost time rather than memory",
            time(short)
        ),
        conditions: vec![
            condition(Clause::Lifetime(vec![Between { from: None, to: Some(short) }])),
            Condition { not: true, clause: Clause::Collected(vec![Collected::Never]) },
        ],
    }
}

fn growth(
    points: &[Point],
    between: Option<(Elapsed, Elapsed)>,
    warm: Elapsed,
    end: Elapsed,
) -> Preset {
    let found = between.is_none();
    let (from, to) = between
        .map(|(a, b)| (a.min(b), a.max(b)))
        .or_else(|| largest_rise(points, warm))
        .unwrap_or((warm, end));
    let [from, to] = [round(from, end), round(to, end)];
    let largest = if found { ", the largest rise after warm-up" } else { "" };
    Preset {
        id: "growth",
        name: "Growth",
        why: format!(
            "allocated between {} and {}, and live then{largest}: what memory has grown by",
            time(from),
            time(to)
        ),
        conditions: vec![
            condition(Clause::Allocated(vec![Between::both(Moment::At(from), Moment::At(to))])),
            condition(Clause::Live(vec![Between::only(Moment::At(to))])),
        ],
    }
}

/// A time with no more digits than the recording's length makes sense of; not beyond its end.
fn round(time: Elapsed, end: Elapsed) -> Elapsed {
    let mut unit = 1;
    while unit * 10_000 <= end.0 {
        unit *= 10;
    }
    Elapsed(time.0.div_ceil(unit) * unit).min(end)
}

fn live(point: &Point) -> f64 {
    (point.minor + point.major + point.external) as f64
}

/// The two moments, not before `warm`, between which most is gained.
fn largest_rise(points: &[Point], warm: Elapsed) -> Option<(Elapsed, Elapsed)> {
    let mut lowest: Option<&Point> = None;
    let mut best: Option<(f64, Elapsed, Elapsed)> = None;
    for point in points.iter().filter(|point| point.time >= warm) {
        let low = *lowest.get_or_insert(point);
        let rise = live(point) - live(low);
        if rise > best.map_or(0.0, |(rise, ..)| rise) {
            best = Some((rise, low.time, point.time));
        }
        if live(point) < live(low) {
            lowest = Some(point);
        }
    }
    best.map(|(_, from, to)| (from, to))
}

/// When memory settles, if it does in the first half: where the curve is best described by two
/// straight lines, the first of which is the steeper by far.
fn warm_up(points: &[Point], end: Elapsed) -> Option<Elapsed> {
    let curve: Vec<(f64, f64)> =
        points.iter().map(|point| (point.time.seconds(), live(point))).collect();
    // Fewer say nothing.
    if curve.len() < 32 {
        return None;
    }
    let ahead = lines(curve.iter());
    let mut behind = lines(curve.iter().rev());
    behind.reverse();
    let (least, half) = (4, curve.len() / 2);
    let knee = (least..half).min_by(|&a, &b| {
        let error = |at: usize| ahead[at - 1].error + behind[at].error;
        error(a).total_cmp(&error(b))
    })?;
    let (before, after) = (ahead[knee - 1], behind[knee]);
    let settles = before.slope > 0.0 && before.slope > 4.0 * after.slope.abs();
    // The bend is before the first point of the second line. One line must not do about as well.
    let whole = ahead[curve.len() - 1].error;
    (settles && before.error + after.error < whole / 4.0).then(|| round(points[knee].time, end))
}

#[derive(Clone, Copy)]
struct Line {
    slope: f64,
    /// Sum of the squares of distances.
    error: f64,
}

/// The best line through the first one, two, … of some points.
fn lines<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> Vec<Line> {
    // Welford's updates: sums of squares around the means so far.
    let (mut n, mut x_mean, mut y_mean) = (0.0, 0.0, 0.0);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    let line = |&(x, y): &(f64, f64)| {
        n += 1.0;
        let (dx, dy) = (x - x_mean, y - y_mean);
        x_mean += dx / n;
        y_mean += dy / n;
        xx += dx * (x - x_mean);
        yy += dy * (y - y_mean);
        xy += dx * (y - y_mean);
        let slope = if xx > 0.0 { xy / xx } else { 0.0 };
        Line { slope, error: (yy - slope * xy).max(0.0) }
    };
    points.map(line).collect()
}
