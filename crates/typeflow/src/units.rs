//! The blocks that types start from: those of compilation units.

use memtrail_heap::BlockIndex;
use memtrail_types::term::Content;
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
