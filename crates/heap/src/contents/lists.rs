//! Lists: cells of two fields, of which the second is a cell or `[]`.
//!
//! A pair of a value and a list looks like a cell, and so does a pair at the end of nested ones. Cells are recognised
//! behind three in a row whose values have one form, and the first of these is left out: it may be a pair. So
//! lists of less than three cells are not recognised.

use super::block_form::{BlockForm, NO_TARGET};
use super::chains::Chains;
use super::facts::Facts;
use super::types::{Found, Part};
use crate::block_types::{BlockTypes, Derivation};
use crate::graph::bits::Bits;
use crate::units::BlockIndex;

/// Marks cells of lists.
pub(super) fn mark(facts: &Facts, chains: &Chains, found: &mut Found) {
    let cells = &facts.pairs;
    let form = |value| form(facts, value);
    for (place, (_, [first, next])) in cells.iter().enumerate() {
        if !found.is_free(next) || chains.length(place).is_none_or(|length| length < 3) {
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

/// The form of a value; an immediate has none.
fn form(facts: &Facts, value: u32) -> Option<BlockForm> {
    (value != NO_TARGET).then(|| facts.form(value))
}

/// Marks the first cells of lists, of which the others are marked: those whose type says so, and where their type is
/// not known, the only pair with a value of the same form that leads to the others.
pub(super) fn mark_first(facts: &Facts, types: &BlockTypes, found: &mut Found) {
    let cells = &facts.pairs;
    let is_cell = |found: &Found, block| found.part(block) == Some(Part::ListCell);
    // Of cells, those that others lead to, and those that several do.
    let (mut led_to, mut shared) = (Bits::new(found.len()), Bits::new(found.len()));
    let mut first: Vec<(u32, u32)> = Vec::new();
    let mut declared: Vec<u32> = Vec::new();
    for (block, [value, next]) in cells.iter() {
        if next == NO_TARGET || !is_cell(found, next) {
            continue;
        }
        let second = cells.place(next).map(|cell| cells.fields(cell)[0]);
        let is_alike = second.is_some_and(|second| form(facts, value) == form(facts, second));
        let known = types.of(BlockIndex(block)).filter(|ty| ty.derivation != Derivation::Contents);
        let may_be_first = found.is_free(block) && is_alike && known.is_none();
        if known.is_some_and(|ty| ty.constructor.as_deref() == Some("::")) {
            declared.push(block);
        } else if may_be_first {
            first.push((block, next));
        }
        if !led_to.insert(next) {
            shared.insert(next);
        }
    }
    first.retain(|(_, next)| !shared.contains(*next));
    for block in first.into_iter().map(|(block, _)| block).chain(declared) {
        found.set(block, Part::ListCell);
    }
}
