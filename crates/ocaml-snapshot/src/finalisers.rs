//! Finalisers: their functions are kept, their values by their kind.

use memtrail_heap::write::{Function, LabelRole, RootKind, Strength};
use memtrail_ocaml::heap::finalisers::{self, Kind, VALUE};
use memtrail_ocaml::{block, names as function_names};

use super::frozen::{StoppedProcess, View};
use super::roots::{RootList, is_pointer};
use super::{bytecode, functions};

const MAX_NAME_LEN: usize = 512;

/// OCaml 5: a domain's.
pub(super) fn of_domain(view: &View<'_, impl StoppedProcess>, list: &mut RootList, state: u64) {
    let Some(fields) = view.layout.multicore() else { return };
    let Some(info) = view.memory.field(state, fields.final_info) else { return };
    of_info(view, list, info);
}

/// OCaml 5: those of a `struct caml_final_info`.
pub(super) fn of_info(view: &View<'_, impl StoppedProcess>, list: &mut RootList, info: u64) {
    let mut entries = Vec::new();
    finalisers::each(&view.memory, info, |kind, at| entries.push((kind, at)));
    for (kind, at) in entries {
        add(view, list, kind, at);
    }
}

/// OCaml 4: all.
pub(super) fn of_program(view: &View<'_, impl StoppedProcess>, list: &mut RootList) {
    for (kind, at) in StoppedProcess::finalisers(view) {
        add(view, list, kind, at);
    }
}

fn add(view: &View<'_, impl StoppedProcess>, list: &mut RootList, kind: Kind, at: u64) {
    let memory = &view.memory;
    let function = memory.u64(at).unwrap_or(0);
    let value = memory.field(at, VALUE).unwrap_or(0);
    let (mut linked, mut text) = ([0; MAX_NAME_LEN], [0; MAX_NAME_LEN]);
    let code = code_of(view, function).unwrap_or(0);
    let linked = view.symbols.name_at(code, &mut linked).unwrap_or_default();
    let name = function_names::demangle(linked, &mut text).unwrap_or(linked);
    let found;
    let name = if name.is_empty() {
        found = list.function_names.entry(code).or_insert_with(|| name_without_symbol(view, code));
        found.as_slice()
    } else {
        name
    };
    let label = list.labels.add(None, RootKind::Finaliser, LabelRole::Function, name, b"", 0);
    list.add(at, function, label);
    let strength = match kind {
        Kind::First => Strength::Finaliser,
        Kind::Last => Strength::Last,
        Kind::Due => Strength::Strong,
    };
    list.held(at + VALUE, value, label, strength);
}

/// The name of a function in debug information.
fn name_without_symbol(view: &View<'_, impl StoppedProcess>, code: u64) -> Vec<u8> {
    let mut name = Vec::new();
    let take = &mut |function: &Function| name.clone_from(&function.name);
    match view.memory.bytecode() {
        Some(bytecode) => bytecode::functions(bytecode, &[code], take),
        None => functions::each(view, &[code], take),
    }
    name
}

/// The code of a closure.
fn code_of(view: &View<'_, impl StoppedProcess>, closure: u64) -> Option<u64> {
    if !is_pointer(closure) {
        return None;
    }
    let header = view.memory.u64(closure.checked_sub(8)?)?;
    let is_closure = matches!(block::tag_of(header), block::tag::CLOSURE | block::tag::INFIX);
    is_closure.then(|| view.memory.u64(closure)).flatten()
}
