//! Parts of an executable in memory, and the words of its data: the places at which variables are looked for.

use std::ops::Range;

use crate::memory::{Address, Memory};

/// No more data than this is looked at, with what is not there.
const MAX_BYTES: u64 = 1 << 28;
const PAGE: u64 = 4096;

/// Parts of an executable in memory.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Memory that the program may write, its zeros included.
    pub data: Vec<Range<Address>>,
    /// Machine code.
    pub code: Vec<Range<Address>>,
    /// Each thread's copy of the executable's thread-local storage.
    pub thread_local: Vec<Range<Address>>,
}

/// Words of the writable parts of an executable.
pub(super) struct Words {
    /// Pieces in the order of their addresses: the first word's address, and the words.
    pieces: Vec<(Address, Vec<u64>)>,
}

impl Words {
    /// Reads what is there of some parts.
    pub(super) fn read(memory: &impl Memory, parts: &[Range<Address>]) -> Self {
        let mut pieces: Vec<(Address, Vec<u64>)> = Vec::new();
        let mut left = MAX_BYTES;
        for part in parts {
            let Some(mut at) = part.start.checked_next_multiple_of(8) else { continue };
            let mut piece = Vec::new();
            let mut start = at;
            while at < part.end && left > 0 {
                if let Some(word) = memory.u64(at) {
                    piece.push(word);
                    at += 8;
                    left = left.saturating_sub(8);
                    continue;
                }
                if !piece.is_empty() {
                    pieces.push((start, std::mem::take(&mut piece)));
                }
                let Some(next) = at.checked_add(1).and_then(|at| at.checked_next_multiple_of(PAGE))
                else {
                    break;
                };
                // A damaged core file may list more pages that are not there than can be asked for.
                left = left.saturating_sub(next - at);
                (at, start) = (next, next);
            }
            pieces.push((start, piece));
        }
        pieces.sort_by_key(|(start, _)| *start);
        Self { pieces }
    }

    /// Leaves out some parts.
    pub(super) fn without(self, parts: &[Range<Address>]) -> Self {
        let mut pieces = self.pieces;
        for part in parts {
            let mut rest = Vec::with_capacity(pieces.len() + 1);
            for (start, mut words) in pieces {
                let place =
                    |at: Address| (at.saturating_sub(start) / 8).min(words.len() as u64) as usize;
                let (first, behind) = (place(part.start), place(part.end));
                if first >= behind {
                    rest.push((start, words));
                    continue;
                }
                let after = words.split_off(behind);
                words.truncate(first);
                rest.push((start, words));
                rest.push((start + 8 * behind as u64, after));
            }
            pieces = rest;
        }
        Self { pieces }
    }

    /// All words with their addresses.
    pub(super) fn all(&self) -> impl Iterator<Item = (Address, u64)> + '_ {
        self.pieces.iter().flat_map(|(start, words)| {
            let places = (0u64..).map(move |index| start + 8 * index);
            places.zip(words.iter().copied())
        })
    }

    /// Words that may be pointers, with their addresses.
    pub(super) fn pointers(&self) -> impl Iterator<Item = (Address, u64)> + '_ {
        self.all().filter(|(_, word)| *word != 0 && word.is_multiple_of(8))
    }

    /// Lists of `length` words with a zero behind them.
    pub(super) fn lists(&self, length: usize) -> impl Iterator<Item = (Address, &[u64])> {
        self.pieces.iter().flat_map(move |(start, words)| {
            let windows = words.windows(length + 1).enumerate();
            windows.filter_map(move |(index, window)| {
                let (end, list) = window.split_last()?;
                (*end == 0).then_some((start + 8 * index as u64, list))
            })
        })
    }

    /// The longest lists of words that `accept` takes, each with a zero behind it.
    pub(super) fn runs(&self, accept: impl Fn(u64) -> bool) -> Vec<(Address, Vec<u64>)> {
        let mut runs = Vec::new();
        for (start, words) in &self.pieces {
            let mut first = 0;
            for (index, word) in words.iter().enumerate() {
                if *word != 0 && accept(*word) {
                    continue;
                }
                let run = words.get(first..index).unwrap_or_default();
                if *word == 0 && !run.is_empty() {
                    runs.push((start + 8 * first as u64, run.to_vec()));
                }
                first = index + 1;
            }
        }
        runs
    }

    /// True for an address of one of the words.
    pub(super) fn contain(&self, at: Address) -> bool {
        let next = self.pieces.partition_point(|(start, _)| *start <= at);
        next.checked_sub(1)
            .and_then(|place| self.pieces.get(place))
            .is_some_and(|(start, words)| (at - start) / 8 < words.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Memory with one page of ones, which counts what it is asked.
    struct OnePage {
        page: Address,
        asked: Cell<u64>,
    }

    impl Memory for OnePage {
        fn bytes<const N: usize>(&self, at: Address) -> Option<[u8; N]> {
            self.asked.set(self.asked.get() + 1);
            (self.page..self.page + PAGE).contains(&at).then_some([1; N])
        }
    }

    /// A core file with a damaged length took seconds: each of the pages that it does not have was asked for.
    #[test]
    fn pages_that_are_not_there_are_asked_for_within_the_limit() {
        let memory = OnePage { page: 5 * PAGE, asked: Cell::new(0) };
        let whole = Address::MIN..Address::MAX;
        let words = Words::read(&memory, std::slice::from_ref(&whole));
        assert_eq!(words.all().count() as u64, PAGE / 8);
        assert!(memory.asked.get() <= MAX_BYTES / PAGE + PAGE / 8, "{}", memory.asked.get());
    }
}
