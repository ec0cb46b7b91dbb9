//! Between which lines functions are that have no line: by the other functions of their units, of all of which the
//! lines are looked for, those without closures included.

use std::ops::Range;

use memtrail_heap::Between;
use memtrail_heap::write::Function;
use memtrail_ocaml::names;
use memtrail_ocaml::neighbours::{self, Lines, Neighbour};
use memtrail_ocaml::own_name::Origin;

use super::descriptors::{Described, by_descriptors};
use super::frozen::{StoppedProcess, View};
use super::mapped::file_name;

/// All functions of some units.
pub(super) struct Units {
    /// In the order of their code.
    pub(super) functions: Vec<Described>,
    /// Where the units are among them.
    pub(super) extents: Vec<Range<usize>>,
}

/// Adds lines to those of `functions` that have none; they are in the order of their code. Gives the units of these.
pub(super) fn add_lines(
    view: &View<'_, impl StoppedProcess>,
    functions: &mut [Described],
) -> Units {
    let mut starts = Vec::new();
    let mut units = Vec::new();
    for function in functions.iter().filter(|one| one.function.line == 0) {
        if starts.last().is_some_and(|last| function.code.start <= *last) {
            continue;
        }
        let first = starts.len();
        for start in view.symbols.unit_of(function.code.start) {
            if starts.last() != Some(&start) {
                starts.push(start);
            }
        }
        units.push(first..starts.len());
    }
    let mut of_units = by_descriptors(view, &starts);
    of_units.iter_mut().for_each(Described::by_symbol);
    // Flambda's copies of functions may have no place, whatever they are called.
    let may_be_copy = view.symbols.has_flambda;
    for unit in &units {
        let unit = of_units.get_mut(unit.clone()).unwrap_or_default();
        same_paths(unit);
        let neighbours: Vec<Neighbour<'_>> =
            unit.iter().map(|one| neighbour(one, may_be_copy)).collect();
        for (one, between) in unit.iter().zip(neighbours::between(&neighbours)) {
            let place = functions.binary_search_by_key(&one.code.start, |one| one.code.start);
            let function = place.ok().and_then(|place| functions.get_mut(place));
            if let (Some(function), Some(between)) = (function, between) {
                add_between(&mut function.function, &between);
            }
        }
    }
    Units { functions: of_units, extents: units }
}

/// Symbols have files without folders. Where that is a file that descriptors of the unit have, its path is theirs; where
/// not, the function is a copy of one of another unit, and tells nothing.
fn same_paths(unit: &mut [Described]) {
    let own = unit.iter().filter(|one| one.code.origin == Origin::Function);
    let mut paths: Vec<Vec<u8>> = own.map(|one| one.function.file.clone()).collect();
    paths.dedup();
    for one in unit.iter_mut().filter(|one| one.code.place.is_none()) {
        let function = &mut one.function;
        if let Some(path) = paths.iter().find(|path| file_name(path) == file_name(&function.file)) {
            function.file.clone_from(path);
        } else {
            (function.line, function.is_start) = (0, false);
        }
    }
}

fn neighbour(described: &Described, may_be_copy: bool) -> Neighbour<'_> {
    let function = &described.function;
    let lines = lines(described);
    let is_nameless = names::may_be_generated(&function.symbol);
    let is_known = lines.is_some();
    Neighbour {
        lines,
        may_be_generated: !function.is_start && (is_nameless || may_be_copy && !is_known),
    }
}

/// The lines of a function that are its own.
pub(super) fn lines(described: &Described) -> Option<Lines<'_>> {
    let Described { function, code } = described;
    // Other lines may be those of code that was inlined.
    let is_nameless = names::may_be_generated(&function.symbol);
    // Methods have no name in their symbols; debug information has it: `Shop.cart#total`.
    let is_method = is_nameless && function.name.contains(&b'#');
    let has_own_lines = match code.origin {
        Origin::Function => true,
        Origin::Unit => is_method,
        Origin::Copied | Origin::Other => false,
    };
    let lines = Lines {
        file: &function.file,
        name: &function.name,
        first: function.line,
        last: code.last_line.max(function.line),
        is_start: function.is_start,
    };
    let is_known = function.line > 0 && (has_own_lines || function.is_start);
    is_known.then_some(lines)
}

fn add_between(function: &mut Function, between: &neighbours::Between<'_>) {
    if function.line > 0 {
        return;
    }
    function.file.clear();
    function.file.extend_from_slice(between.file);
    function.between = Some(Between { first: between.first, last: between.last });
}
