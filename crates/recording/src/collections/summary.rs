//! What the file's lines say together: sums, the longest pauses, and what happened between two lines.

use std::time::Duration;

use memtrail_order::SortRows as _;
use serde::Serialize;

use super::{CollectionFigures, Figure};

/// Pauses that are named one by one.
const MAX_PAUSES: usize = 3;

/// Which part of the collector ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A minor collection.
    Minor,
    /// A slice of the major collection.
    Slice,
}

/// The program waited once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pause {
    /// What for.
    pub part: Part,
    /// How long.
    pub seconds: f64,
    /// When it ended, since the recording began.
    pub at: f64,
}

/// What happened in a stretch of time. Sums are over all domains, so times may exceed the stretch's length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Span {
    /// When it began and ended, in seconds since the recording began.
    pub from: f64,
    /// The end.
    pub to: f64,
    /// Minor collections; in OCaml 5 each counts once for every domain in it.
    pub minor_collections: u64,
    /// What they took, in seconds.
    pub minor_seconds: f64,
    /// Slices of the major collection.
    pub slices: u64,
    /// What they took, in seconds.
    pub slice_seconds: f64,
    /// What all took. What runs within another is counted once.
    pub seconds: f64,
    /// That as a share of the time: of several domains it may exceed 1.
    pub share: f64,
    /// Cycles of the major collection that ended.
    pub major_cycles: Option<u64>,
    /// Compactions.
    pub compactions: Option<u64>,
    /// Whether the program had put hooks of its own in the place of ours: all but cycles and compactions is of the
    /// time before.
    pub replaced: bool,
    /// The longest one of each part, the longest first.
    pub longest: Vec<Pause>,
}

/// The whole recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// All of it.
    #[serde(flatten)]
    pub whole: Span,
    /// One after the other.
    pub over_time: Vec<Span>,
}

impl Summary {
    /// Adds up, into this number of stretches of time, or fewer. `None` without a line.
    pub fn new(lines: &[CollectionFigures], stretches: usize) -> Option<Self> {
        let last = lines.last()?;
        let none = CollectionFigures::default();
        let mut over_time = Vec::new();
        let mut before = &none;
        for lines in lines.chunks(lines.len().div_ceil(stretches.max(1))) {
            let Some(end) = lines.last() else { continue };
            over_time.push(Span::between(before, end, lines));
            before = end;
        }
        let mut whole = Span::between(&none, last, lines);
        let all = lines.iter().flat_map(pauses).collect();
        whole.longest = longest(all, MAX_PAUSES);
        Some(Self { whole, over_time })
    }
}

impl Span {
    /// `lines` are those behind `before`, up to `end`.
    fn between(
        before: &CollectionFigures,
        end: &CollectionFigures,
        lines: &[CollectionFigures],
    ) -> Self {
        let known = |figure| {
            end.get(figure).map(|value| value.saturating_sub(before.get(figure).unwrap_or(0)))
        };
        let count = |figure| known(figure).unwrap_or(0);
        let time = |figure| Duration::from_nanos(count(figure)).as_secs_f64();
        let of = |part| {
            let pauses = lines.iter().flat_map(pauses).filter(|pause| pause.part == part).collect();
            longest(pauses, 1)
        };
        let [from, to] = [before, end].map(|figures| figures.elapsed.as_secs_f64());
        let share = if to > from { time(Figure::Time) / (to - from) } else { 0.0 };
        Self {
            from,
            to,
            share,
            minor_collections: count(Figure::Minor),
            minor_seconds: time(Figure::MinorTime),
            slices: count(Figure::Slices),
            slice_seconds: time(Figure::SlicesTime),
            seconds: time(Figure::Time),
            major_cycles: known(Figure::Cycles),
            compactions: known(Figure::Compactions),
            replaced: end.get(Figure::Replaced) == Some(1),
            longest: longest([of(Part::Minor), of(Part::Slice)].concat(), 2),
        }
    }
}

/// The longest ones that a line names.
fn pauses(line: &CollectionFigures) -> impl Iterator<Item = Pause> {
    let parts = [
        (Part::Minor, Figure::MinorLongest, Figure::MinorLongestAt),
        (Part::Slice, Figure::SliceLongest, Figure::SliceLongestAt),
    ];
    let pause = |(part, long, at)| {
        let (long, at) = (line.get(long)?, line.get(at)?);
        let (long, at) = (Duration::from_micros(long), Duration::from_millis(at));
        Some(Pause { part, seconds: long.as_secs_f64(), at: at.as_secs_f64() })
    };
    parts.map(pause).into_iter().flatten()
}

fn longest(mut pauses: Vec<Pause>, count: usize) -> Vec<Pause> {
    pauses.sort_rows_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.at.total_cmp(&b.at)));
    pauses.truncate(count);
    pauses
}

#[cfg(test)]
mod tests {
    use super::super::{HEADING, parse};
    use super::*;

    const FILE: &str = "c 1000000 minor=10 minor-ns=20000000 minor-longest-us=5000 \
        minor-longest-at-ms=700 slices=2 slices-ns=4000000 slice-longest-us=3000 \
        slice-longest-at-ms=900 ns=22000000 major-cycles=1 compactions=0\n\
        c 2000000 minor=10 minor-ns=20000000 slices=2 slices-ns=4000000 ns=22000000 major-cycles=1 compactions=0\n\
        c 3000000 minor=30 minor-ns=90000000 minor-longest-us=40000 minor-longest-at-ms=2500 \
        slices=2 slices-ns=4000000 ns=92000000 major-cycles=4 compactions=1\n";

    fn summary(stretches: usize) -> Summary {
        let (lines, error) = parse(format!("{HEADING}\n{FILE}").as_bytes());
        assert_eq!(error, None);
        Summary::new(&lines, stretches).expect("there are lines")
    }

    #[test]
    fn sums_are_those_of_the_last_line_and_pauses_those_of_all() {
        let Span { minor_collections, major_cycles, compactions, seconds, longest, .. } =
            summary(10).whole;
        assert_eq!((minor_collections, major_cycles, compactions), (30, Some(4), Some(1)));
        assert!((seconds - 0.092).abs() < 1e-9);
        let shares: Vec<f64> = summary(3).over_time.iter().map(|span| span.share).collect();
        assert!(shares.iter().zip([0.022, 0.0, 0.07]).all(|(a, b)| (a - b).abs() < 1e-9));
        let named: Vec<_> = longest.iter().map(|pause| (pause.part, pause.at)).collect();
        assert_eq!(named, [(Part::Minor, 2.5), (Part::Minor, 0.7), (Part::Slice, 0.9)]);
    }

    #[test]
    fn stretches_add_up_to_the_whole() {
        for stretches in 1..=4 {
            let summary = summary(stretches);
            let spans = &summary.over_time;
            assert!(spans.len() <= stretches.min(3));
            let sum: u64 = spans.iter().map(|span| span.minor_collections).sum();
            assert_eq!(sum, summary.whole.minor_collections);
            let cycles: Option<u64> = spans.iter().map(|span| span.major_cycles).sum();
            assert_eq!(cycles, summary.whole.major_cycles);
            let time: f64 = spans.iter().map(|span| span.seconds).sum();
            assert!((time - summary.whole.seconds).abs() < 1e-9);
            assert!(spans.windows(2).all(|pair| pair[0].to.total_cmp(&pair[1].from).is_eq()));
        }
    }

    #[test]
    fn what_was_not_had_is_not_zero() {
        let (lines, _) = parse(format!("{HEADING}\nc 5 minor=1\n").as_bytes());
        let whole = Summary::new(&lines, 5).expect("a line").whole;
        assert_eq!((whole.major_cycles, whole.compactions), (None, None));
        assert_eq!(Summary::new(&[], 5), None);
    }

    #[test]
    fn what_hooks_of_the_program_s_hide_is_said() {
        let file = format!("{HEADING}\nc 5 minor=1\nc 9 minor=1 major-cycles=4 replaced=1\n");
        let summary = Summary::new(&parse(file.as_bytes()).0, 2).expect("lines");
        assert!(summary.whole.replaced);
        let over_time: Vec<bool> = summary.over_time.iter().map(|span| span.replaced).collect();
        assert_eq!(over_time, [false, true]);
    }
}
