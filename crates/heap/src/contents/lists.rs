//! Lists: cells of two fields, of which the second is a cell or `[]`.
//!
//! A pair of a value and a list looks like a cell. So the first cell of a list is not told from such a pair, and
//! lists of less than three cells are not recognised.

use super::chains::Chains;
use super::facts::Facts;
use super::types::{Found, Part};

/// From so many cells on, those behind the first are recognised.
const MIN_LENGTH: u32 = 3;

/// Marks cells of lists.
pub(super) fn mark(facts: &Facts, chains: &Chains, found: &mut Found) {
    let cells = &facts.pairs;
    for (place, (_, [_, next])) in cells.iter().enumerate() {
        if chains.length(place).is_none_or(|length| length < MIN_LENGTH) {
            continue;
        }
        let mut at = next;
        while let Some(cell) = cells.place(at)
            && found.set(at, Part::ListCell)
        {
            at = cells.fields(cell)[1];
        }
    }
}
