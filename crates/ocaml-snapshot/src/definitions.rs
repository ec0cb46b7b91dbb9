//! Where global variables are defined: by the code of their units that computes their values, and where that has no place,
//! between those of the variables that are computed before and behind.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use memtrail_heap::write::{LabelId, LabelRole};
use memtrail_heap::{Between, VariablePlace};
use memtrail_ocaml::definition_lines::{self, Known};
use memtrail_ocaml::entry_code::{Definition, Entry, definitions};
use memtrail_ocaml::symbols::heap as names;

use super::frozen::{StoppedProcess, View};
use super::roots::RootList;

const MAX_PATH_LEN: usize = 1024;
/// Longer code is not looked at; no function that is compiled has as much.
const MAX_CODE_LEN: u64 = 1 << 24;

type Hasher = BuildHasherDefault<DefaultHasher>;

/// Adds places to the labels of global variables.
pub(super) fn add(view: &View<'_, impl StoppedProcess>, list: &mut RootList) {
    let Some(table) = view.frame_table.filter(|_| cfg!(target_arch = "x86_64")) else {
        return;
    };
    let mapped = &view.mapped;
    let packing = view.layout.packing;
    let initialize = view.symbols.address(names::INITIALIZE);
    let labels: HashMap<u64, LabelId, Hasher> = list.variables.iter().copied().collect();
    let mut text = [0; MAX_PATH_LEN];
    for (start, data) in view.symbols.entries() {
        let (symbol, end) = view.symbols.function_at(start);
        let symbol = symbol.and_then(|symbol| view.memory.c_string(symbol.name, &mut text));
        let Some(symbol) = symbol else { continue };
        let length = end.saturating_sub(start);
        if length > MAX_CODE_LEN || mapped.readable(start) < length {
            continue;
        }
        let Some(code) = view.memory.slice(start, length) else { continue };
        let file = mapped.file(start);
        // Slots of the dynamic linker's table are of the same file, and no data of a unit.
        let stored = |slot: u64| {
            let is_slot = file.is_some() && mapped.file(slot) == file && mapped.readable(slot) >= 8;
            view.memory.u64(slot).filter(|_| is_slot && !data.contains(&slot))
        };
        let entry = Entry { symbol, code, start, data: data.clone(), initialize };
        let unit = definitions(&view.memory, packing, table, &entry, stored);
        for (slot, place) in places(view, list, &labels, &unit) {
            if let Some(label) = labels.get(&slot) {
                list.labels.set_place(*label, place);
            }
        }
    }
}

/// The places of a unit's variables, by their slots.
fn places(
    view: &View<'_, impl StoppedProcess>,
    list: &RootList,
    labels: &HashMap<u64, LabelId, Hasher>,
    unit: &[(u64, Definition)],
) -> Vec<(u64, VariablePlace)> {
    let mut files: HashMap<u64, Vec<u8>, Hasher> = HashMap::default();
    let mut text = [0; MAX_PATH_LEN];
    for (_, definition) in unit {
        if let Definition::Made(lines) = definition {
            files.entry(lines.file).or_insert_with(|| {
                view.memory.c_string(lines.file, &mut text).unwrap_or_default().to_vec()
            });
        }
    }
    let computed = |definition: &Definition| {
        let Definition::Made(lines) = definition else { return None };
        let file = files.get(&lines.file)?.clone();
        let lines = Between { first: lines.first, last: Some(lines.last) };
        Some(VariablePlace { file, lines, is_computed: true })
    };
    let own = unit.iter().filter_map(|(slot, made)| Some((*slot, computed(made)?)));
    let mut found: Vec<(u64, VariablePlace)> = own.collect();
    let is_symbol = |slot: &u64| {
        let label = labels.get(slot).and_then(|label| list.labels.get(*label));
        label.is_some_and(|label| label.part == LabelRole::Symbol)
    };
    if view.symbols.has_flambda || unit.iter().any(|(slot, _)| is_symbol(slot)) {
        // Values of fields are those of symbols; the fields themselves are in no order.
        found.extend(same(unit, computed));
        return found;
    }
    let known: Vec<Known<'_>> = unit
        .iter()
        .map(|(_, definition)| match definition {
            Definition::Made(lines) => files
                .get(&lines.file)
                .map_or(Known::Nothing, |file| Known::Lines(file, lines.first, lines.last)),
            Definition::Unplaced => Known::Unplaced,
            Definition::Same(_) | Definition::Unknown => Known::Nothing,
        })
        .collect();
    for ((slot, _), between) in unit.iter().zip(definition_lines::between(&known)) {
        if let Some(between) = between.filter(|one| one.first > 1 || one.last.is_some()) {
            let lines = Between { first: between.first, last: between.last };
            let file = between.file.to_vec();
            found.push((*slot, VariablePlace { file, lines, is_computed: false }));
        }
    }
    found
}

/// The places of variables that were given what a symbol has. Where there are several of one symbol, they are not all defined
/// where that is.
fn same(
    unit: &[(u64, Definition)],
    computed: impl Fn(&Definition) -> Option<VariablePlace>,
) -> Vec<(u64, VariablePlace)> {
    let by_slot: HashMap<u64, &Definition, Hasher> =
        unit.iter().map(|(slot, definition)| (*slot, definition)).collect();
    let mut users: HashMap<u64, Vec<u64>, Hasher> = HashMap::default();
    for (slot, definition) in unit {
        if let Definition::Same(other) = definition {
            users.entry(*other).or_default().push(*slot);
        }
    }
    let only = users.into_iter().filter_map(|(of, slots)| match slots[..] {
        [slot] => Some((slot, computed(by_slot.get(&of)?)?)),
        _ => None,
    });
    only.collect()
}
