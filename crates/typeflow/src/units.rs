//! The blocks that types start from: those of compilation units, and the exceptions that none of them defines.

use memtrail_heap::read::Snapshot;
use memtrail_heap::{BlockIndex, PREDEFINED_EXCEPTIONS};
use memtrail_types::term::{Content, TypeTable};
use memtrail_types::{Field, Layout, Slot, SlotKind};

use crate::instances::{Instances, Type, TypeId};

/// The block of a compilation unit, and what its fields are.
#[derive(Clone, Copy, Debug)]
pub struct UnitBlock<'t> {
    /// The block.
    pub block: BlockIndex,
    /// The unit's name as programmers write it: `Stdlib.List`.
    pub name: &'t str,
    /// What its fields hold.
    pub layout: &'t Layout,
}

impl UnitBlock<'_> {
    /// The types of its fields, if it has so many; none if that cannot be this unit.
    pub(crate) fn fields(&self, instances: &mut Instances<'_>, wosize: u64) -> Vec<TypeId> {
        let named = self.layout.named(wosize);
        let types = (0..wosize.min(named)).map(|number| match self.layout.field(number, wosize) {
            Some(Field::Slot(slot)) => of_slot(instances, slot),
            Some(Field::MethodCache) | None => instances.unknown("method cache"),
        });
        let mut types: Vec<TypeId> = types.collect();
        if !types.is_empty() && named < wosize {
            let unknown = instances.unknown("field of a unit without a .cmt");
            types.resize(wosize as usize, unknown);
        }
        types
    }
}

/// The blocks of the runtime's own exceptions, with their places in the table.
pub(crate) fn predefined_exceptions(
    snapshot: &Snapshot<'_>,
    table: &TypeTable,
) -> Vec<(BlockIndex, u32)> {
    let labels = &snapshot.labels;
    let named = snapshot.roots.iter().filter_map(|root| {
        let label = labels.get(root.label)?;
        let above = labels.get(label.parent?)?;
        let is_one = above.parent.is_none() && labels.name(above) == PREDEFINED_EXCEPTIONS;
        is_one.then(|| (root.block, labels.name(label)))
    });
    let is_exception = |of| table.declaration(of).is_some_and(|of| of.name == "exn");
    named
        .filter_map(|(block, name)| {
            // Those that a unit defines have its name before theirs.
            let place = table
                .extensions
                .iter()
                .position(|known| known.name.as_bytes() == name && is_exception(known.of))?;
            Some((block, place as u32))
        })
        .collect()
}

/// The type of what a slot holds.
pub(crate) fn of_slot(instances: &mut Instances<'_>, slot: &Slot) -> TypeId {
    match (slot.content, slot.kind) {
        (Content::Value(term), _) => instances.closed(term),
        (Content::Module(module), _) => instances.id(Type::Module(module)),
        (Content::Extension(extension), _) => instances.id(Type::Extension(extension)),
        (Content::Unknown, SlotKind::Functor) => instances.id(Type::Function),
        (Content::Unknown, SlotKind::Class) => instances.unknown("class"),
        (Content::Unknown, SlotKind::Module) => instances.unknown("module of unknown layout"),
        (Content::Unknown, SlotKind::Exception | SlotKind::Value) => {
            instances.unknown("variable without a type")
        }
    }
}
