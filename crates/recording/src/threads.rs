//! The file `threads`: which thread allocated each block. The trace's format has no room for it.
//!
//! Text, a line each, only appended to; a last line without its newline is not there yet.
//!
//! | line | says |
//! |---|---|
//! | `memtrail threads 1` | the first line; the number is the format's version |
//! | `t NUMBER TID NAME` | a thread, its number in the system, and its name (the rest of the line) |
//! | `b DOMAIN BLOCK NUMBER` | from this block on, this domain's blocks are that thread's |
//!
//! A thread that is named nowhere is known by its number alone. Programs with one thread have no
//! such file.

use std::collections::BTreeMap;

use crate::Stretches;
use crate::lines::{self, LineError};

/// Name of the file inside a recording.
pub const THREADS_FILE: &str = "threads";
/// Its first line.
pub const HEADING: &str = "memtrail threads 1";

/// A thread of the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its number in the system; 0 if it is unknown.
    pub tid: u32,
    /// Its name, as the system shows it; threads inherit that of the program.
    pub name: String,
}

/// Who allocated what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// By number. Holds every number that `switches` has.
    pub threads: BTreeMap<u32, Thread>,
    /// By number, the thread that each domain's blocks are of.
    pub switches: Stretches<u32>,
}

impl Threads {
    /// Reads the file's bytes. What stands before an unreadable line is given with the error.
    pub fn parse(bytes: &[u8]) -> (Self, Option<LineError>) {
        let mut found = Self::default();
        let error = lines::read(bytes, HEADING, |line| found.line(line)).err();
        (found, error)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        let mut words = rest.splitn(3, ' ');
        let (first, second, third) = (words.next()?, words.next()?, words.next()?);
        match kind {
            "t" => {
                let thread = Thread { tid: second.parse().ok()?, name: third.to_owned() };
                self.threads.insert(first.parse().ok()?, thread);
            }
            "b" => {
                let (block, number) = (second.parse().ok()?, third.parse().ok()?);
                self.switches.push(first.parse().ok()?, block, number)?;
                self.threads.entry(number).or_default();
            }
            _ => return None,
        }
        Some(())
    }

    /// The number of the thread that allocated a block.
    pub fn of(&self, domain: u16, block: u64) -> Option<u32> {
        self.switches.of(domain, block).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "memtrail threads 1\nb 0 0 1\nt 2 4712 worker 7\nb 0 120 2\nb 1 10000 3\n";

    #[test]
    fn each_block_has_the_thread_of_its_stretch() {
        let (threads, error) = Threads::parse(WHOLE.as_bytes());
        assert_eq!(error, None);
        assert_eq!(threads.threads[&2], Thread { tid: 4712, name: "worker 7".into() });
        assert_eq!(threads.threads.len(), 3);
        let of = |domain, block| threads.of(domain, block);
        assert_eq!((of(0, 0), of(0, 119), of(0, 120)), (Some(1), Some(1), Some(2)));
        assert_eq!((of(1, 9_999), of(1, 10_000), of(2, 0)), (None, Some(3), None));
    }

    #[test]
    fn a_file_may_end_anywhere() {
        for end in 0..=WHOLE.len() {
            let (threads, error) = Threads::parse(&WHOLE.as_bytes()[..end]);
            assert_eq!(error, None, "cut at {end}");
            let blocks = threads.switches.len();
            assert_eq!(blocks, WHOLE[..end].matches("b ").count() - usize::from(is_cut(end)));
        }
    }

    /// Whether the last line is a switch that is not whole.
    fn is_cut(end: usize) -> bool {
        let begun = WHOLE[..end].rfind('\n').map_or(0, |at| at + 1);
        WHOLE[begun..end].starts_with("b ")
    }

    #[test]
    fn what_makes_no_sense_ends_the_reading() {
        let bad = "memtrail threads 1\nb 0 0 1\nb 0 x 2\nb 0 9 3\n";
        let (threads, error) = Threads::parse(bad.as_bytes());
        assert_eq!(error, Some(LineError::Line { line: 3 }));
        assert_eq!(threads.of(0, 50), Some(1));
        assert_eq!(
            Threads::parse(b"something else\n").1,
            Some(LineError::Heading { heading: HEADING })
        );
        let back = "memtrail threads 1\nb 0 9 1\nb 0 8 2\n";
        assert_eq!(Threads::parse(back.as_bytes()).1, Some(LineError::Line { line: 3 }));
    }
}
