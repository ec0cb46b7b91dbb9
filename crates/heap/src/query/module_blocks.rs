//! The blocks of modules, whose fields are global variables.

use std::collections::BTreeMap;

use super::heap::Heap;
use crate::label::{LabelRole, RootKind};
use crate::read::{Columns, Error};
use crate::units::{BlockIndex, LabelId};

/// The block of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleBlock {
    /// The module's name, as roots have it.
    pub name: Vec<u8>,
    /// The block itself.
    pub block: BlockIndex,
    /// How many fields it has.
    pub fields: u64,
    /// The labels of those that refer to the heap, with their numbers.
    pub labels: Fields,
}

/// Labels of fields, with the fields' numbers.
type Fields = Vec<(LabelId, u64)>;

/// The blocks of modules, in the order of the snapshot's labels. Modules with several blocks are left out.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn module_blocks(heap: &Heap<'_>) -> Result<Vec<ModuleBlock>, Error> {
    let labels = &heap.snapshot.labels;
    let mut modules: BTreeMap<LabelId, (Vec<BlockIndex>, Fields)> = BTreeMap::new();
    for root in &heap.snapshot.roots {
        let Some((block, field)) = root.field_of else { continue };
        let Some(label) = labels.get(root.label) else { continue };
        let Some(unit) = label.parent else { continue };
        let is_unit = labels.get(unit).is_some_and(|unit| unit.part == LabelRole::Unit);
        if label.kind != RootKind::Global || label.part != LabelRole::Field || !is_unit {
            continue;
        }
        let (blocks, fields) = modules.entry(unit).or_default();
        if !blocks.contains(&block) {
            blocks.push(block);
        }
        if label.number == field {
            fields.push((root.label, field));
        }
    }
    let mut wanted: BTreeMap<BlockIndex, (LabelId, Fields)> = BTreeMap::new();
    for (unit, (blocks, fields)) in modules {
        if let [block] = blocks.as_slice() {
            wanted.insert(*block, (unit, fields));
        }
    }
    let mut found = Vec::new();
    let mut columns = Columns::new();
    let mut decoded = None;
    for (block, (unit, fields)) in wanted {
        let Some(section) = heap.snapshot.section_of(block) else { continue };
        if decoded != Some(section) {
            heap.snapshot.decode(section, &mut columns)?;
            decoded = Some(section);
        }
        let place = (block.0 - columns.first.0) as usize;
        let Some(module) = columns.get(place) else { continue };
        let name = labels.get(unit).map_or(&[][..], |label| labels.name(label)).to_vec();
        found.push(ModuleBlock { name, block, fields: module.wosize.0, labels: fields });
    }
    Ok(found)
}
