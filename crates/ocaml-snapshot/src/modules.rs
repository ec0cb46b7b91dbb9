//! Modules: a label for each unit, and below it one for each of its fields. Compilers with flambda give values that
//! a unit computes blocks of their own, which have labels by their symbols.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};

use memtrail_heap::write::{LabelId, LabelRole, PREDEFINED_EXCEPTIONS, RootKind};
use memtrail_ocaml::heap::globals::{Global, globals};
use memtrail_ocaml::names;
use memtrail_ocaml::symbols::heap as symbols;

use super::frozen::{StoppedProcess, View};
use super::roots::{RootList, is_pointer};

const MAX_NAME_LEN: usize = 512;

type Hasher = BuildHasherDefault<DefaultHasher>;

/// The units that the program was linked with.
pub(super) fn add(view: &View<'_, impl StoppedProcess>, list: &mut RootList) {
    let Some(tables) = view.symbols.address(symbols::GLOBALS) else { return };
    let mut units = Units::new(view);
    units.repeated = repeated(view, tables);
    // Modules' fields come first: of several roots of one value, the first one is shown.
    for is_module in [true, false] {
        for global in globals(&view.memory, tables) {
            let mut text = [0; MAX_NAME_LEN];
            let symbol = view.symbols.name_at(global.block, &mut text).unwrap_or_default();
            if view.symbols.split(symbol).is_some_and(|(_, value)| value.is_empty() == is_module) {
                add_global(view, list, &mut units, symbol, global);
            }
        }
    }
}

fn add_global<F: StoppedProcess>(
    view: &View<'_, F>,
    list: &mut RootList,
    units: &mut Units<'_, '_, F>,
    symbol: &[u8],
    global: Global,
) {
    let Some(block) = units.block(list, symbol, global.block, global.fields) else { return };
    for field in 0..global.fields {
        // The end of what can be read bounds a size that is none.
        let slot = global.block.saturating_add(8 * field);
        let Some(value) = view.memory.u64(slot) else { break };
        if is_pointer(value) {
            block.add(list, slot, value);
        }
    }
}

/// The symbols of the units' blocks without stamps, of those that several have then.
fn repeated(view: &View<'_, impl StoppedProcess>, tables: u64) -> HashSet<Vec<u8>, Hasher> {
    let (mut seen, mut repeated) = (HashSet::<Vec<u8>, Hasher>::default(), HashSet::default());
    for global in globals(&view.memory, tables) {
        let mut text = [0; MAX_NAME_LEN];
        let symbol = view.symbols.name_at(global.block, &mut text).unwrap_or_default();
        let name = names::without_stamp(symbol);
        if name.len() < symbol.len() && !seen.insert(name.to_vec()) {
            repeated.insert(name.to_vec());
        }
    }
    repeated
}

/// The exceptions that the runtime raises itself: no unit defines them.
pub(super) fn add_exceptions(view: &View<'_, impl StoppedProcess>, list: &mut RootList) {
    let found = view.symbols.predefined_exceptions();
    if found.is_empty() {
        return;
    }
    let all = list.named(None, RootKind::Static, LabelRole::Other, PREDEFINED_EXCEPTIONS);
    for (name, block) in found {
        let label = list.named(Some(all), RootKind::Static, LabelRole::Symbol, name);
        list.note(block, label);
    }
}

/// Whether a slot is a field of a module's block, as symbols tell.
pub(super) fn is_of_module(view: &View<'_, impl StoppedProcess>, slot: u64) -> bool {
    let mut text = [0; MAX_NAME_LEN];
    let symbol = view.symbols.of_block(slot);
    let name = symbol.and_then(|symbol| view.memory.c_string(symbol.name, &mut text));
    name.and_then(|name| view.symbols.split(name)).is_some()
}

/// Roots that are left over: fields of modules of plugins, and others.
pub(super) fn add_rest(
    view: &View<'_, impl StoppedProcess>,
    list: &mut RootList,
    rest: Vec<(u64, u64)>,
) {
    let mut units = Units::new(view);
    let (mut other, mut last) = (None, None::<StaticBlock>);
    for (slot, value) in rest {
        let symbol = view.symbols.of_block(slot);
        let known = symbol.zip(last).filter(|(symbol, last)| symbol.address == last.address);
        let block = known.map(|(_, last)| last).or_else(|| {
            let symbol = symbol?;
            let mut text = [0; MAX_NAME_LEN];
            let name = view.memory.c_string(symbol.name, &mut text)?;
            let fields = view.symbols.fields(symbol)?;
            units.block(list, name, symbol.address, fields)
        });
        if let Some(block) = block {
            block.add(list, slot, value);
        } else {
            let label = *other.get_or_insert_with(|| {
                list.named(None, RootKind::Other, LabelRole::Other, b"not told by the runtime")
            });
            list.add(slot, value, label);
        }
        last = block.or(last);
    }
}

/// Units with their labels.
struct Units<'a, 'v, F> {
    view: &'a View<'v, F>,
    known: HashMap<Vec<u8>, LabelId, Hasher>,
    /// Symbols that are the same without their stamps, without these.
    repeated: HashSet<Vec<u8>, Hasher>,
}

/// A unit's block in static data.
#[derive(Clone, Copy)]
struct StaticBlock {
    address: u64,
    label: LabelId,
    /// Whether its only field has the block's own label: it holds the value that the symbol names.
    is_value: bool,
}

impl<'a, 'v, F: StoppedProcess> Units<'a, 'v, F> {
    fn new(view: &'a View<'v, F>) -> Self {
        Self { view, known: HashMap::default(), repeated: HashSet::default() }
    }

    /// The block with this symbol, if it is a unit's.
    fn block(
        &mut self,
        list: &mut RootList,
        symbol: &[u8],
        address: u64,
        fields: u64,
    ) -> Option<StaticBlock> {
        let (unit, value) = self.view.symbols.split(symbol)?;
        let unit = *self.known.entry(unit.to_vec()).or_insert_with(|| {
            let mut text = [0; MAX_NAME_LEN];
            let shown = names::write_name(unit, &mut text);
            list.named(None, RootKind::Global, LabelRole::Unit, shown)
        });
        let label = if value.is_empty() {
            unit
        } else {
            let keep_stamp = self.repeated.contains(names::without_stamp(symbol));
            let mut text = [0; MAX_NAME_LEN];
            let shown = names::value(value, keep_stamp, &mut text);
            list.named(Some(unit), RootKind::Global, LabelRole::Symbol, shown)
        };
        list.note(address, label);
        Some(StaticBlock { address, label, is_value: !value.is_empty() && fields == 1 })
    }
}

impl StaticBlock {
    /// Adds what one of its fields holds.
    fn add(self, list: &mut RootList, slot: u64, value: u64) {
        let field = (slot - self.address) / 8;
        let label = if self.is_value {
            self.label
        } else {
            list.numbered(Some(self.label), RootKind::Global, LabelRole::Field, field)
        };
        list.variables.push((slot, label));
        list.add(slot, value, label);
    }
}
