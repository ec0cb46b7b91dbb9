//! Chains of blocks, each of which points to the next with its last field: cells of lists and queues, buckets of
//! hash tables.

use std::io;

use super::block_form::NO_TARGET;
use super::facts::{Candidates, Facts};
use super::types::Found;
use crate::graph::column::{Column, Place};

/// How far it is to the end of its chain from each candidate that is free, and from those behind it.
#[derive(Debug)]
pub(super) struct Chains {
    lengths: Column<u32>,
    last: Column<u32>,
}

/// Not looked at yet.
const UNKNOWN: u32 = 0;
/// On the way from the candidate that is looked at.
const ON_WAY: u32 = u32::MAX - 1;
/// No chain: it ends in something else, in a circle, or its values are of different sorts.
const NO_LENGTH: u32 = u32::MAX;

impl Chains {
    /// Follows the last fields of `candidates` that are free. All other fields of the blocks of a chain hold values of one sort
    /// each.
    ///
    /// # Errors
    /// If there is no room for columns.
    pub(super) fn new<const N: usize>(
        place: &Place,
        facts: &Facts,
        candidates: &Candidates<N>,
        found: &Found,
    ) -> io::Result<Self> {
        // Zeros are those that are not looked at.
        let (lengths, last) = (place.zeros(candidates.len())?, place.zeros(candidates.len())?);
        let mut chains = Self { lengths, last };
        let mut way: Vec<usize> = Vec::new();
        for (start, (block, _)) in candidates.iter().enumerate() {
            if !found.is_free(block) {
                continue;
            }
            let mut at = start;
            let (mut length, last) = loop {
                match chains.lengths[at] {
                    UNKNOWN => {}
                    ON_WAY | NO_LENGTH => break (NO_LENGTH, 0),
                    length => break (length, chains.last[at]),
                }
                chains.lengths[at] = ON_WAY;
                way.push(at);
                let fields = candidates.fields(at);
                let next = fields[N - 1];
                if next == NO_TARGET {
                    break (0, at as u32);
                }
                match candidates.place(next) {
                    Some(next) if alike(facts, fields, candidates.fields(next)) => at = next,
                    _ => break (NO_LENGTH, 0),
                }
            };
            while let Some(place) = way.pop() {
                if length != NO_LENGTH {
                    length = (length + 1).min(ON_WAY - 1);
                }
                chains.lengths[place] = length;
                chains.last[place] = last;
            }
        }
        Ok(chains)
    }

    /// How many blocks the chain from a candidate on has; `None` if it is no chain, or was not looked at.
    pub(super) fn length(&self, place: usize) -> Option<u32> {
        self.lengths.get(place).copied().filter(|length| ![UNKNOWN, NO_LENGTH].contains(length))
    }

    /// The last candidate of a chain.
    pub(super) fn last(&self, place: usize) -> usize {
        self.last[place] as usize
    }
}

/// Whether the values of two blocks of a chain are of the same sorts.
fn alike<const N: usize>(facts: &Facts, one: [u32; N], other: [u32; N]) -> bool {
    let values = |fields: [u32; N]| fields.into_iter().take(N - 1).map(|value| facts.sort(value));
    values(one).eq(values(other))
}
