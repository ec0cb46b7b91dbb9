//! Global variables by the names that are stored in the recording.

use std::collections::{HashMap, HashSet};

use memtrail_heap::query::{Heap, ModuleBlock, module_blocks};
use memtrail_heap::read::{Error, Root};
use memtrail_heap::{LabelId, Variable};
use memtrail_ocaml::names::write_name;
use memtrail_typeflow::{DefinedValue, definitions_of_values};
use memtrail_types::{Field, Layout, Position, SlotKind, Types, Unit};

/// The block of a module, and what is known of its unit.
pub(super) struct KnownModule<'t> {
    pub(super) module: ModuleBlock,
    pub(super) unit: &'t Unit,
    pub(super) layout: &'t Layout,
}

/// The blocks of modules whose units are known. A block is left out if its size is not that in the program's file.
pub(super) fn known_modules<'t>(
    heap: &Heap<'_>,
    types: &'t Types,
) -> Result<Vec<KnownModule<'t>>, Error> {
    let mut units: HashMap<Vec<u8>, Option<&Unit>> = HashMap::new();
    for unit in &types.units {
        let mut text = [0; 512];
        let shown = write_name(unit.name.as_bytes(), &mut text).to_vec();
        // Two units that are shown alike cannot be distinguished.
        units.entry(shown).and_modify(|unit| *unit = None).or_insert(Some(unit));
    }
    let known = module_blocks(heap)?.into_iter().filter_map(|module| {
        let unit = (*units.get(&module.name)?)?;
        let layout = unit.layout.as_ref()?;
        (unit.fields == Some(module.fields)).then_some(KnownModule { module, unit, layout })
    });
    Ok(known.collect())
}

/// Names the fields of modules' blocks, and gives functions the lines of their definitions.
pub(super) fn name(heap: &mut Heap<'_>, types: &Types) -> Result<(), Error> {
    let definitions = memtrail_typeflow::definitions(&heap.snapshot, &types.table);
    heap.snapshot.define(&definitions);
    let modules = known_modules(heap, types)?;
    let values = values(heap, &modules);
    let definitions = definitions_of_values(&heap.snapshot, &values)?;
    heap.snapshot.define(&definitions);
    for KnownModule { module, layout, .. } in modules {
        let repeated = repeated(layout);
        for (label, field) in module.labels {
            if let Some(found) = layout.field(field, module.fields) {
                let variable = variable(found, field, &repeated);
                heap.snapshot.labels.set_variable(label, variable);
            }
        }
    }
    Ok(())
}

/// Values of the variables of modules, with the positions of their definitions.
fn values<'t>(heap: &Heap<'_>, modules: &[KnownModule<'t>]) -> Vec<DefinedValue<'t>> {
    let mut defined: HashMap<LabelId, (&'t str, &'t str, &'t Position)> = HashMap::new();
    for KnownModule { module, unit, layout } in modules {
        for (label, field) in &module.labels {
            if let Some(Field::Slot(slot)) = layout.field(*field, module.fields)
                && slot.kind == SlotKind::Value
                && let (Some(name), Some(position)) = (slot.path.last(), &slot.position)
            {
                defined.insert(*label, (&unit.name, name, position));
            }
        }
    }
    let value = |root: &Root| {
        let (unit, name, position) = *defined.get(&root.label)?;
        Some(DefinedValue { block: root.block, unit, name, position })
    };
    heap.snapshot.roots.iter().filter_map(value).collect()
}

/// Names of several slots: the earlier ones are shadowed.
fn repeated(layout: &Layout) -> HashSet<String> {
    let mut seen = HashSet::new();
    let slots = layout.exported.iter().chain(&layout.hidden);
    slots.map(memtrail_types::Slot::variable).filter(|name| !seen.insert(name.clone())).collect()
}

fn variable(found: Field<'_>, field: u64, repeated: &HashSet<String>) -> Variable {
    let Field::Slot(slot) = found else {
        return Variable { name: "(method cache)".into(), ty: String::new(), position: None };
    };
    let mut name = slot.variable();
    if repeated.contains(&name) {
        name = format!("{name} (field {field})");
    }
    let position = slot.position.as_ref().map(ToString::to_string);
    Variable { name, ty: slot.type_or_kind(), position }
}
