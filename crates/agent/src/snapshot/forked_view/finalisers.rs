//! Finalisers: their functions are kept, their values by their kind.

use memtrail_heap::write::{LabelRole, RootKind, Strength};
use memtrail_ocaml::Memory as _;
use memtrail_ocaml::heap::finalisers::{self, ENTRY, Kind, VALUE};
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml::{block, names as function_names};

use super::mapped::Mapped;
use super::roots::{RootList, is_pointer};
use super::view::ForkedView;

const MAX_NAME_LEN: usize = 512;

/// OCaml 5: a domain's.
pub(super) fn of_domain(view: &ForkedView<'_>, list: &mut RootList, state: u64) {
    let Some(fields) = view.target.runtime.layout.multicore() else { return };
    let Some(info) = view.memory.field(state, fields.final_info) else { return };
    of_info(view, list, info);
}

/// OCaml 5: those of a `struct caml_final_info`.
pub(super) fn of_info(view: &ForkedView<'_>, list: &mut RootList, info: u64) {
    let mut entries = Vec::new();
    finalisers::each(&view.memory, info, |kind, at| entries.push((kind, at)));
    for (kind, at) in entries {
        add(view, list, kind, at);
    }
}

/// OCaml 4: all.
pub(super) fn of_program(view: &ForkedView<'_>, list: &mut RootList) {
    let slots: Vec<u64> =
        view.scan_single(names::FINALISERS).into_iter().map(|(slot, _)| slot).collect();
    let mapped = Mapped::of_this_process();
    let mut table = None;
    let mut at = 0;
    while let Some(&slot) = slots.get(at) {
        // Of entries that are due function and value are scanned, of others the function.
        if slots.get(at + 1) == Some(&(slot + VALUE)) {
            add(view, list, Kind::Due, slot);
            at += 2;
            continue;
        }
        let kind = match table {
            Some((kind, last)) if slot == last + ENTRY => kind,
            _ => kind_of_table(view, &mapped, slot, table.is_some()),
        };
        table = Some((kind, slot));
        add(view, list, kind, slot);
        at += 1;
    }
}

/// Which of the two tables begins at `table`: that of `Gc.finalise` is scanned first, unless it is
/// empty.
fn kind_of_table(view: &ForkedView<'_>, mapped: &Mapped, table: u64, is_second: bool) -> Kind {
    let refers = |name| {
        let Some((code, address)) = view.code_of(name) else { return false };
        let is_mapped = |address| mapped.contains(address);
        finalisers::refers_to(&view.memory, code, address, table, is_mapped)
    };
    if is_second || (refers(names::FINALISE_LAST) && !refers(names::FINALISE)) {
        Kind::Last
    } else {
        Kind::First
    }
}

fn add(view: &ForkedView<'_>, list: &mut RootList, kind: Kind, at: u64) {
    let memory = &view.memory;
    let function = memory.u64(at).unwrap_or(0);
    let value = memory.field(at, VALUE).unwrap_or(0);
    let (mut linked, mut text) = ([0; MAX_NAME_LEN], [0; MAX_NAME_LEN]);
    let code = code_of(view, function).unwrap_or(0);
    let linked = view.symbols.name_at(code, &mut linked).unwrap_or_default();
    let name = function_names::demangle(linked, &mut text).unwrap_or(linked);
    let label = list.labels.add(None, RootKind::Finaliser, LabelRole::Function, name, b"", 0);
    list.add(at, function, label);
    let strength = match kind {
        Kind::First => Strength::Finaliser,
        Kind::Last => Strength::Last,
        Kind::Due => Strength::Strong,
    };
    list.held(at + VALUE, value, label, strength);
}

/// The code of a closure.
fn code_of(view: &ForkedView<'_>, closure: u64) -> Option<u64> {
    if !is_pointer(closure) {
        return None;
    }
    let header = view.memory.u64(closure.checked_sub(8)?)?;
    let is_closure = matches!(block::tag_of(header), block::tag::CLOSURE | block::tag::INFIX);
    is_closure.then(|| view.memory.u64(closure)).flatten()
}
