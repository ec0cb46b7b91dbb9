//! `Queue.t`: its length, the first of its cells and the last.

use super::block_form::NO_TARGET;
use super::chains::Chains;
use super::facts::Facts;
use super::types::{Found, Part};

/// With one cell, it could be a record that has the same list twice.
const MIN_LENGTH: u32 = 2;

/// Marks queues and their cells.
pub(super) fn mark(facts: &Facts, chains: &Chains, found: &mut Found) {
    let cells = &facts.pairs;
    for (queue, [length, first, last]) in facts.triples.iter() {
        let (NO_TARGET, Some(start), Some(end)) = (length, cells.place(first), cells.place(last))
        else {
            continue;
        };
        if !found.is_free(queue) {
            continue;
        }
        let is_long = chains.length(start).is_some_and(|length| length >= MIN_LENGTH);
        if !is_long || chains.last(start) != end {
            continue;
        }
        found.set(queue, Part::Queue);
        let mut at = first;
        while let Some(cell) = cells.place(at)
            && found.set(at, Part::QueueCell)
        {
            at = cells.fields(cell)[1];
        }
    }
}
