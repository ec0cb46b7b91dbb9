//! Modules: a label for each unit, and below it one for each of its fields.

use memtrail_heap::write::{LabelId, LabelRole, RootKind};
use memtrail_ocaml::Memory as _;
use memtrail_ocaml::heap::globals::{Global, globals};
use memtrail_ocaml::names;
use memtrail_ocaml::symbols::heap as symbols;

use super::roots::{RootList, is_pointer};
use super::view::ForkedView;

const MAX_NAME_LEN: usize = 512;

/// The units that the program was linked with.
pub(super) fn add(view: &ForkedView<'_>, list: &mut RootList) {
    let Some(tables) = view.symbols.address(symbols::GLOBALS) else { return };
    let mut unit: Option<(Vec<u8>, LabelId)> = None;
    for global in globals(&view.memory, tables) {
        add_global(view, list, &mut unit, global);
    }
}

/// A block of a unit. `unit` is the last one's.
fn add_global(
    view: &ForkedView<'_>,
    list: &mut RootList,
    unit: &mut Option<(Vec<u8>, LabelId)>,
    global: Global,
) {
    let mut text = [0; MAX_NAME_LEN];
    let symbol = view.symbols.name_at(global.block, &mut text).unwrap_or_default();
    let Some((unit_name, value)) = names::split_symbol(symbol) else {
        // Without a name of its own: a block of the unit before.
        return;
    };
    let known = unit.as_ref().filter(|(name, _)| name == unit_name).map(|&(_, label)| label);
    let unit_label = known.unwrap_or_else(|| {
        let mut text = [0; MAX_NAME_LEN];
        let shown = names::write_name(unit_name, &mut text);
        let label = list.named(None, RootKind::Global, LabelRole::Unit, shown);
        *unit = Some((unit_name.to_vec(), label));
        label
    });
    let parent = if value.is_empty() {
        unit_label
    } else {
        list.named(Some(unit_label), RootKind::Global, LabelRole::Symbol, value)
    };
    list.note(global.block, parent);
    for field in 0..global.fields {
        let slot = global.block + 8 * field;
        let value = view.memory.u64(slot).unwrap_or(0);
        if is_pointer(value) {
            let label = list.numbered(Some(parent), RootKind::Global, LabelRole::Field, field);
            list.add(slot, value, label);
        }
    }
}

/// Whether a slot is a field of a module's block, as symbols tell.
pub(super) fn is_of_module(view: &ForkedView<'_>, slot: u64) -> bool {
    let mut text = [0; MAX_NAME_LEN];
    let symbol = view.symbols.of_block(slot);
    let name = symbol.and_then(|symbol| view.memory.c_string(symbol.name, &mut text));
    name.and_then(names::split_symbol).is_some()
}

/// Roots that are left over: fields of modules of plugins, and others.
pub(super) fn add_rest(view: &ForkedView<'_>, list: &mut RootList, rest: Vec<(u64, u64)>) {
    let mut unit: Option<(Vec<u8>, LabelId)> = None;
    let (mut other, mut block) = (None, 0);
    for (slot, value) in rest {
        let mut text = [0; MAX_NAME_LEN];
        let symbol = view.symbols.of_block(slot);
        let name = symbol.and_then(|s| view.memory.c_string(s.name, &mut text));
        let split = name.and_then(names::split_symbol);
        let (Some(symbol), Some((unit_name, value_name))) = (symbol, split) else {
            let label = *other.get_or_insert_with(|| {
                list.named(None, RootKind::Other, LabelRole::Other, b"not told by the runtime")
            });
            list.add(slot, value, label);
            continue;
        };
        let known = unit.as_ref().filter(|(name, _)| name == unit_name).map(|&(_, label)| label);
        let unit_label = known.unwrap_or_else(|| {
            let mut text = [0; MAX_NAME_LEN];
            let shown = names::write_name(unit_name, &mut text);
            let label = list.named(None, RootKind::Global, LabelRole::Unit, shown);
            unit = Some((unit_name.to_vec(), label));
            label
        });
        let parent = if value_name.is_empty() {
            unit_label
        } else {
            list.named(Some(unit_label), RootKind::Global, LabelRole::Symbol, value_name)
        };
        if block != symbol.address {
            block = symbol.address;
            list.note(block, parent);
        }
        let field = (slot - symbol.address) / 8;
        let label = list.numbered(Some(parent), RootKind::Global, LabelRole::Field, field);
        list.add(slot, value, label);
    }
}
