//! The file `memory`: what the process's resident memory was used for, now and then and at its end.
//!
//! The agent measures and adds up; [`table`] says what the figures mean. Text, a line each, only
//! appended to; a last line without its newline is not there yet.
//!
//! | line | says |
//! |---|---|
//! | `memtrail memory 1` | the first line; the number is the format's version |
//! | `m ELAPSED NAME=BYTES NAME=BYTES …` | figures, so many microseconds after the recording began |
//!
//! One of the names is `cpu-us`: microseconds of CPU time that the process has used since the recording began.
//!
//! A figure that could not be had is absent. Readers pass over names that they do not know, so new
//! figures do not raise the version.

pub mod advice;
pub mod resident;
pub mod table;

use std::time::Duration;

use memtrail_heap::Bytes;

use crate::figures::{self, figures};
use crate::lines::LineError;

/// Name of the file inside a recording.
pub const MEMORY_FILE: &str = "memory";
/// Its first line.
pub const HEADING: &str = "memtrail memory 1";

/// Name of the CPU time.
const CPU: &str = "cpu-us";

figures! {
    /// Resident memory of the process, by the kernel's own counter (`VmRSS`).
    Rss = "rss",
    /// The most that there was so far (`VmHWM`).
    PeakRss = "peak-rss",
    /// Swapped out (`VmSwap`).
    Swapped = "swapped",
    /// Resident: the executable, with its data.
    Program = "program",
    /// Resident: shared libraries, with their data.
    Libraries = "libraries",
    /// Resident: other mapped files.
    Files = "files",
    /// Resident: memory that can be shared with other processes.
    Shared = "shared",
    /// Resident: stacks of threads.
    Stacks = "stacks",
    /// Resident: the agent's library, its stacks, its files and its blocks.
    Agent = "agent",
    /// Resident: arenas of `malloc`, without what the OCaml runtime has in them.
    Arenas = "arenas",
    /// Resident: memory without a file that is none of the others.
    Anonymous = "anonymous",
    /// Resident: minor heaps of OCaml.
    MinorHeaps = "minor-heaps",
    /// Resident, OCaml 4: the major heap's chunks.
    Chunks = "chunks",
    /// Address space that chunks and minor heaps take of arenas: in OCaml 4 `malloc` gave it.
    RuntimeInArenas = "runtime-in-arenas",
    /// Address space that they take of mappings of their own.
    RuntimeInMappings = "runtime-in-mappings",
    /// Size of OCaml's major heap: chunks, or pools.
    MajorHeap = "major-heap",
    /// OCaml 4: free of it.
    MajorFree = "major-free",
    /// OCaml 5: in pools, used by blocks.
    PoolsUsed = "pools-used",
    /// OCaml 5: in pools, lost between blocks and the ends of their slots.
    PoolsLost = "pools-lost",
    /// OCaml 5: blocks that `malloc` gave, each by itself.
    LargeBlocks = "large-blocks",
    /// Of arenas: in use.
    ArenasUsed = "arenas-used",
    /// Of arenas: kept after `free`.
    ArenasFree = "arenas-free",
    /// Blocks that `malloc` mapped, each by itself.
    MallocMapped = "malloc-mapped",
}

/// The figures of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFigures {
    /// Since the recording began.
    pub elapsed: Duration,
    /// CPU time of the process since the recording began, if it could be had.
    pub cpu: Option<Duration>,
    values: [Option<Bytes>; Figure::ALL.len()],
}

impl MemoryFigures {
    /// None yet.
    pub fn new(elapsed: Duration) -> Self {
        Self { elapsed, ..Self::default() }
    }

    /// A figure, if it could be had.
    pub fn get(&self, figure: Figure) -> Option<Bytes> {
        self.values[figure as usize]
    }

    /// Adds a figure, or replaces it.
    pub fn set(&mut self, figure: Figure, bytes: impl Into<Option<Bytes>>) {
        self.values[figure as usize] = bytes.into();
    }

    /// The line of the file, with its newline.
    pub fn line(&self) -> String {
        let known =
            Figure::ALL.iter().filter_map(|&figure| Some((figure.name(), self.get(figure)?.0)));
        let cpu = self.cpu.map(|cpu| (CPU, cpu.as_micros() as u64));
        figures::line('m', self.elapsed, known.chain(cpu))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut found = Self::default();
        found.elapsed = figures::parse_line(line, 'm', |name, number| {
            if name == CPU {
                found.cpu = Some(Duration::from_micros(number));
            } else if let Some(&figure) = Figure::ALL.iter().find(|figure| figure.name() == name) {
                found.set(figure, Bytes(number));
            }
        })?;
        Some(found)
    }
}

/// Reads the file's bytes: the figures, in the order of time. What is before an unreadable line is given
/// with the error.
pub fn parse(bytes: &[u8]) -> (Vec<MemoryFigures>, Option<LineError>) {
    figures::parse(bytes, HEADING, MemoryFigures::parse, |figures| figures.elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> MemoryFigures {
        let mut figures = MemoryFigures::new(Duration::from_micros(1_234_567));
        figures.set(Figure::Rss, Bytes(1 << 20));
        figures.set(Figure::MallocMapped, Bytes(0));
        figures.cpu = Some(Duration::from_micros(77));
        figures
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(some().line(), "m 1234567 rss=1048576 malloc-mapped=0 cpu-us=77\n");
        let file = format!("{HEADING}\n{}m 2000000\n", some().line());
        let later = MemoryFigures::new(Duration::from_secs(2));
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
        let (found, error) = parse(b"memtrail memory 1\nm 5 rss=3 of-later=9\n");
        assert_eq!((found.len(), error), (1, None));
        assert_eq!(found[0].get(Figure::Rss), Some(Bytes(3)));
    }

    #[test]
    fn what_makes_no_sense_ends_the_reading() {
        assert_eq!(parse(b"other\n").1, Some(LineError::Heading { heading: HEADING }));
        for line in ["m", "m x", "m 9 rss", "m 9 rss=x", "m 9 rss=-1", "n 9 rss=1", "m 3 rss=1"] {
            let (found, error) = parse(format!("{HEADING}\nm 4 rss=1\n{line}\n").as_bytes());
            assert_eq!((found.len(), error), (1, Some(LineError::Line { line: 3 })), "{line}");
        }
    }
}
