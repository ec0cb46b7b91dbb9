//! The file `collections`: how often OCaml's garbage collector ran, and for how long the program waited for it.
//!
//! The agent counts in the runtime's own hooks, which are called around each minor collection and around each
//! slice of the major collection; [`summary`] adds up. Text, a line each, only appended to; a last line without
//! its newline is not there yet.
//!
//! | line | says |
//! |---|---|
//! | `memtrail collections 1` | the first line; the number is the format's version |
//! | `c ELAPSED NAME=NUMBER NAME=NUMBER …` | figures, so many microseconds after the recording began |
//!
//! Counts and times are since the recording began, of all domains together. The longest one is of the time since the
//! line before. A figure that could not be had is absent. Readers pass over names that they do not know, so new
//! figures do not raise the version.
//!
//! What has no hooks is not in the times: `Gc.full_major` and compactions of OCaml 4. Both are counted. Neither is what
//! runs after the program has put hooks of its own in the place of ours.

pub mod summary;

use std::time::Duration;

use crate::figures::{self, figures};
use crate::lines::LineError;

/// Name of the file inside a recording.
pub const COLLECTIONS_FILE: &str = "collections";
/// Its first line.
pub const HEADING: &str = "memtrail collections 1";

figures! {
    /// Minor collections; in OCaml 5 each counts once for every domain in it.
    Minor = "minor",
    /// How long they took, in nanoseconds.
    MinorTime = "minor-ns",
    /// How long the longest since the line before took, in microseconds.
    MinorLongest = "minor-longest-us",
    /// When that ended, in milliseconds since the recording began.
    MinorLongestAt = "minor-longest-at-ms",
    /// Slices of the major collection.
    Slices = "slices",
    /// How long they took, in nanoseconds.
    SlicesTime = "slices-ns",
    /// How long the longest since the line before took, in microseconds.
    SliceLongest = "slice-longest-us",
    /// When that ended, in milliseconds since the recording began.
    SliceLongestAt = "slice-longest-at-ms",
    /// How long all of them took, in nanoseconds. What runs within another is counted once.
    Time = "ns",
    /// Cycles of the major collection that have ended.
    Cycles = "major-cycles",
    /// Compactions.
    Compactions = "compactions",
    /// 1 if hooks of the program's are in the place of ours, and nothing but the two figures above was counted since.
    Replaced = "replaced",
}

/// The figures of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectionFigures {
    /// Since the recording began.
    pub elapsed: Duration,
    values: [Option<u64>; Figure::ALL.len()],
}

impl CollectionFigures {
    /// None yet.
    pub fn new(elapsed: Duration) -> Self {
        Self { elapsed, ..Self::default() }
    }

    /// A figure, if it could be had.
    pub fn get(&self, figure: Figure) -> Option<u64> {
        self.values[figure as usize]
    }

    /// Adds a figure, or replaces it.
    pub fn set(&mut self, figure: Figure, value: impl Into<Option<u64>>) {
        self.values[figure as usize] = value.into();
    }

    /// The line of the file, with its newline.
    pub fn line(&self) -> String {
        let known =
            Figure::ALL.iter().filter_map(|&figure| Some((figure.name(), self.get(figure)?)));
        figures::line('c', self.elapsed, known)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut found = Self::default();
        found.elapsed = figures::parse_line(line, 'c', |name, number| {
            if let Some(&figure) = Figure::ALL.iter().find(|figure| figure.name() == name) {
                found.set(figure, number);
            }
        })?;
        Some(found)
    }
}

/// Reads the file's bytes: the figures, in the order of time. What is before an unreadable line is given
/// with the error.
pub fn parse(bytes: &[u8]) -> (Vec<CollectionFigures>, Option<LineError>) {
    figures::parse(bytes, HEADING, CollectionFigures::parse, |figures| figures.elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> CollectionFigures {
        let mut figures = CollectionFigures::new(Duration::from_micros(1_234_567));
        figures.set(Figure::Minor, 12);
        figures.set(Figure::Cycles, 0);
        figures
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(some().line(), "c 1234567 minor=12 major-cycles=0\n");
        let file = format!("{HEADING}\n{}c 2000000\n", some().line());
        let later = CollectionFigures::new(Duration::from_secs(2));
        assert_eq!(parse(file.as_bytes()), (vec![some(), later], None));
    }

    #[test]
    fn a_file_may_end_anywhere() {
        let file = format!("{HEADING}\n{0}{0}", some().line());
        for end in 0..=file.len() {
            let (found, error) = parse(&file.as_bytes()[..end]);
            let lines = file[..end].matches('\n').count().saturating_sub(1);
            assert_eq!((found.len(), error), (lines, None), "cut at {end}");
        }
    }

    #[test]
    fn figures_of_later_versions_are_passed_over() {
        let (found, error) = parse(b"memtrail collections 1\nc 5 minor=3 of-later=9\n");
        assert_eq!((found.len(), error), (1, None));
        assert_eq!(found[0].get(Figure::Minor), Some(3));
    }

    #[test]
    fn what_makes_no_sense_ends_the_reading() {
        assert_eq!(parse(b"other\n").1, Some(LineError::Heading { heading: HEADING }));
        for line in ["c", "c x", "c 9 minor", "c 9 minor=x", "c 9 minor=-1", "n 9 minor=1", "c 3"] {
            let (found, error) = parse(format!("{HEADING}\nc 4 minor=1\n{line}\n").as_bytes());
            assert_eq!((found.len(), error), (1, Some(LineError::Line { line: 3 })), "{line}");
        }
    }
}
