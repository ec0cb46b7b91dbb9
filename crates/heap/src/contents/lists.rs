//! Lists: cells of two fields, of which the second is a cell or `[]`.
//!
//! A pair of a value and a list looks like a cell, and so does a pair at the end of nested ones. Cells are recognised
//! behind three in a row whose values have one form, and the first of these is left out: it may be a pair. So
//! lists of less than three cells are not recognised.

use super::chains::Chains;
use super::facts::Facts;
use super::form::{Form, NO_TARGET};
use super::types::{Found, Part};

/// Marks cells of lists.
pub(super) fn mark(facts: &Facts, chains: &Chains, found: &mut Found) {
    let cells = &facts.pairs;
    // An immediate has none.
    let form = |value: u32| -> Option<Form> { (value != NO_TARGET).then(|| facts.form(value)) };
    for (place, (_, [first, next])) in cells.iter().enumerate() {
        if chains.length(place).is_none_or(|length| length < 3) {
            continue;
        }
        let Some([second, after]) = cells.place(next).map(|cell| cells.fields(cell)) else {
            continue;
        };
        let Some([third, _]) = cells.place(after).map(|cell| cells.fields(cell)) else { continue };
        if form(first) != form(second) || form(second) != form(third) {
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
