//! OCaml 4's tables of finalisers, by the order in which the runtime scans them.

use memtrail_ocaml::heap::finalisers::{self, ENTRY, Kind, VALUE};
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml_snapshot::{StoppedProcess, View};

use super::scan;

/// Kinds and addresses of all entries.
pub(super) fn of_program(view: &View<'_, impl StoppedProcess>) -> Vec<(Kind, u64)> {
    let slots: Vec<u64> = scan::finalisers(view).into_iter().map(|(slot, _)| slot).collect();
    let mut entries = Vec::new();
    let mut table = None;
    let mut at = 0;
    while let Some(&slot) = slots.get(at) {
        // Of entries that are due function and value are scanned, of others the function.
        if slots.get(at + 1) == Some(&(slot + VALUE)) {
            entries.push((Kind::Due, slot));
            at += 2;
            continue;
        }
        let kind = match table {
            Some((kind, last)) if slot == last + ENTRY => kind,
            _ => kind_of_table(view, slot, table.is_some()),
        };
        table = Some((kind, slot));
        entries.push((kind, slot));
        at += 1;
    }
    entries
}

/// Which of the two tables begins at `table`: that of `Gc.finalise` is scanned first, unless it is
/// empty.
fn kind_of_table(view: &View<'_, impl StoppedProcess>, table: u64, is_second: bool) -> Kind {
    let refers = |name| {
        let Some((code, address)) = view.code_of(name) else { return false };
        let is_mapped = |address| view.mapped.contains(address);
        finalisers::refers_to(&view.memory, code, address, table, is_mapped)
    };
    if is_second || (refers(names::FINALISE_LAST) && !refers(names::FINALISE)) {
        Kind::Last
    } else {
        Kind::First
    }
}
