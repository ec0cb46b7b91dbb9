//! The shape of exact sizes over the work: the floor, which is what was never given back, and the ceiling.

use super::constants::{EVEN, EVENT, FEW, LASTED, LATE, LEAST, POINTS, SHARE, STEP, SWING};

/// What a few or many sizes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BySizes {
    /// It grows.
    Grows,
    /// It looks like growth, and there are too few sizes to be sure.
    Maybe,
    /// There are enough sizes, and they do not grow.
    Steady,
    /// There are too few sizes.
    Unknown,
}

/// The growth of a floor since some part of the work.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes by which it grew.
    pub grown: f64,
    /// Part of the work at which a tenth of that was there.
    pub since: f64,
    /// Part of the growth of the floor in the later half of the work.
    pub(super) late: f64,
    /// The same of the ceiling.
    late_ceiling: f64,
    /// Part of the work in which the middle four fifths of the growth came.
    pub(super) lasted: f64,
    /// Largest part of the growth in one step that is more than its even share.
    step: f64,
    /// Sizes.
    points: usize,
    /// Steps with at least a third of an even share of the growth.
    rises: usize,
    /// Largest part of the growth that was given back at a time.
    swing: f64,
    /// Largest distance from a line.
    line: f64,
    /// Steps that doubled it, if it grew by nothing else.
    doubles: usize,
    /// When the last step ended that mattered.
    last: f64,
}

/// Judges sizes at parts of the work, ascending to 1, of a heap of so many bytes. There was nothing before the work, unless it had
/// begun before the recording.
#[must_use]
pub fn by_sizes(
    work: &[f64],
    sizes: &[f64],
    heap: f64,
    is_attached: bool,
) -> (BySizes, Option<Shape>) {
    let (mut x, mut y) = apart(work, sizes);
    let count = y.len();
    if !is_attached {
        x.insert(0, 0.0);
        y.insert(0, 0.0);
    }
    if y.len() < 2 {
        return (BySizes::Unknown, None);
    }
    let least = LEAST.max(SHARE * heap);
    for since in [0.0, 0.25, 0.5] {
        let Some(shape) = Shape::since(&x, &y, since).filter(|shape| shape.grown >= least) else {
            continue;
        };
        let is_whole = since == 0.0;
        if is_whole && count >= POINTS && shape.doubles() {
            return (BySizes::Grows, Some(shape));
        }
        if !shape.is_growth() {
            continue;
        }
        if !is_whole {
            // A leak on a large base: the base has hidden its beginning, so it has to be on a line.
            let is_line = shape.line <= EVEN && shape.swing <= EVEN;
            if shape.points > POINTS && shape.rises >= POINTS && is_line {
                return (BySizes::Grows, Some(shape));
            }
            // A cache that was filled and leaks since, in too few sizes to be sure: it is not steady.
            if shape.rises >= FEW && shape.line <= 2.0 * EVEN {
                return (BySizes::Maybe, Some(shape));
            }
            continue;
        }
        let is_line = !is_attached && is_line_from_nothing(&x, &y);
        let few = (FEW..POINTS).contains(&count) && shape.rises >= FEW && is_line;
        let many = count >= POINTS && shape.rises >= (POINTS - 1).max(shape.points.div_ceil(3));
        let found = if few || many { BySizes::Grows } else { BySizes::Maybe };
        return (found, Some(shape));
    }
    let found = if count >= POINTS { BySizes::Steady } else { BySizes::Unknown };
    (found, Shape::since(&x, &y, 0.0))
}

/// The sizes. Of snapshots between which there was hardly any work, the last one counts.
fn apart(work: &[f64], sizes: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let least = super::constants::APART / work.len().max(1) as f64;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (place, (at, size)) in work.iter().zip(sizes).enumerate() {
        if work.get(place + 1).is_none_or(|next| next - at >= least) {
            x.push(*at);
            y.push(*size);
        }
    }
    (x, y)
}

fn is_line_from_nothing(x: &[f64], y: &[f64]) -> bool {
    let end = y.last().copied().unwrap_or(0.0);
    let late: Vec<f64> =
        x.iter().zip(y).filter(|(at, _)| **at >= 0.1).map(|(at, size)| size / at / end).collect();
    late.len() >= 3 && late.iter().all(|part| (part - 1.0).abs() <= EVEN)
}

impl Shape {
    fn since(x: &[f64], y: &[f64], since: f64) -> Option<Self> {
        let mut floor = y.to_vec();
        for place in (0..floor.len().saturating_sub(1)).rev() {
            floor[place] = floor[place].min(floor[place + 1]);
        }
        let (base, end) = (at(x, &floor, since), *floor.last()?);
        let grown = end - base;
        if grown <= 0.0 {
            return None;
        }
        let inner = || x.iter().zip(&floor).filter(|(at, _)| **at > since);
        let moments: Vec<f64> = std::iter::once(since).chain(inner().map(|(at, _)| *at)).collect();
        let low: Vec<f64> = std::iter::once(base).chain(inner().map(|(_, low)| *low)).collect();
        let middle = f64::midpoint(since, 1.0);
        let mut ceiling = y.to_vec();
        for place in 1..ceiling.len() {
            ceiling[place] = ceiling[place].max(ceiling[place - 1]);
        }
        let most = *ceiling.last()?;
        let raised = most - at(x, &ceiling, since);
        let late_ceiling =
            if raised > 0.0 { (most - at(x, &ceiling, middle)) / raised } else { 0.0 };
        let steps: Vec<f64> = low.windows(2).map(|two| two[1] - two[0]).collect();
        let count = steps.len().max(1) as f64;
        // Growth that took as large a part of the work is no event, however long nobody looked.
        let events = steps.iter().zip(moments.windows(2)).filter(|(step, two)| {
            let work = (two[1] - two[0]) / (1.0 - since).max(f64::MIN_POSITIVE);
            **step > EVENT * work * grown
        });
        let event = events.map(|(step, _)| *step).fold(0.0, f64::max);
        let first = reaches(&moments, &low, base + 0.1 * grown);
        let above = |(at, (size, low)): (&f64, (&f64, &f64))| (*at >= since).then_some(size - low);
        let swing = x.iter().zip(y.iter().zip(&floor)).filter_map(above).fold(0.0, f64::max);
        let off = |(at, low): (&f64, &f64)| {
            (low - (grown * (at - since)).mul_add(1.0 / (1.0 - since), base)).abs()
        };
        let mattered = steps.iter().zip(&moments[1..]).filter(|(step, _)| **step >= 0.1 * grown);
        Some(Self {
            grown,
            since: first,
            late: (end - at(&moments, &low, middle)) / grown,
            late_ceiling,
            lasted: reaches(&moments, &low, base + 0.9 * grown) - first,
            step: event / grown,
            points: inner().count(),
            rises: steps.iter().filter(|step| **step >= 0.3 * grown / count).count(),
            swing: swing / grown,
            line: moments.iter().zip(&low).map(off).fold(0.0, f64::max) / grown,
            doubles: doublings(&low, grown),
            last: mattered.map(|(_, at)| *at).fold(0.0, f64::max),
        })
    }

    /// No single condition decides.
    fn is_growth(&self) -> bool {
        self.late >= LATE && self.late_ceiling >= LATE && self.step <= STEP && self.swing <= SWING
    }

    /// What a container that doubles holds is not seen. Of even growth, one doubling falls in the later half.
    fn doubles(&self) -> bool {
        self.doubles >= 3 && self.swing == 0.0 && self.last >= 0.5 && self.lasted >= LASTED
    }
}

/// Steps that double a size, where those that matter do nothing else.
fn doublings(low: &[f64], grown: f64) -> usize {
    let end = low.last().copied().unwrap_or(0.0);
    let up: Vec<(f64, f64)> = low
        .windows(2)
        .map(|two| (two[0], two[1]))
        .filter(|(from, to)| to - from >= 0.03 * grown && *from > 0.0)
        .collect();
    let ratio = |(from, to): &(f64, f64)| to / from;
    let large = up.iter().filter(|(from, _)| *from >= 0.1 * end);
    if large.clone().any(|step| !(1.8..=4.4).contains(&ratio(step))) {
        return 0;
    }
    up.iter().filter(|step| (1.8..=2.2).contains(&ratio(step))).count()
}

/// The size at a part of the work, on the line between two snapshots.
fn at(x: &[f64], y: &[f64], wanted: f64) -> f64 {
    let next = x.partition_point(|at| *at < wanted);
    if next == 0 || next >= x.len() {
        return if next == 0 { y[0] } else { y[y.len() - 1] };
    }
    let span = x[next] - x[next - 1];
    if span <= 0.0 {
        return y[next];
    }
    (y[next] - y[next - 1]).mul_add((wanted - x[next - 1]) / span, y[next - 1])
}

/// The part of the work at which sizes that never fall reach a level.
fn reaches(x: &[f64], low: &[f64], level: f64) -> f64 {
    let Some(next) = low.iter().position(|size| *size >= level) else {
        return x.last().copied().unwrap_or(1.0);
    };
    match next.checked_sub(1) {
        Some(before) if low[next] > low[before] => {
            let part = (level - low[before]) / (low[next] - low[before]);
            (x[next] - x[before]).mul_add(part, x[before])
        }
        _ => x[next],
    }
}
