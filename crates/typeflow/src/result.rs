//! What queries of a snapshot need of the types that were found.

use std::cmp::Reverse;
use std::io;

use hashbrown::HashMap;
use memtrail_heap::graph::{Column, Place};
use memtrail_heap::{BlockType, BlockTypes, Derivation, FieldNames};
use memtrail_order::SortRows as _;
use memtrail_types::Field;
use memtrail_types::term::{Definition, LabelledField};
use rustc_hash::FxBuildHasher;

use crate::instances::Type;
use crate::names;
use crate::shape::{Fields, Part, Shape, ShapeId};
use crate::shapes::Shapes;
use crate::state::{Packed, State};

/// Types that numbers of 16 bits distinguish.
const MAX_TYPES: usize = u16::MAX as usize;

/// All derivations, in their order.
const DERIVATIONS: [Derivation; 3] =
    [Derivation::Variable, Derivation::Closure, Derivation::Contents];

/// Where columns by shape and derivation have them.
const fn place_of(shape: ShapeId, derivation: Derivation) -> usize {
    shape.0 as usize * DERIVATIONS.len() + derivation as usize
}

/// The types of blocks by number. If there are too many for 16 bits, those of the fewest blocks are left out.
pub(crate) fn block_types(
    place: &Place,
    shapes: &Shapes<'_>,
    states: &[Packed],
) -> io::Result<BlockTypes> {
    // By shape and derivation.
    let mut counts = vec![0u32; shapes.len() * DERIVATIONS.len()];
    for state in states {
        if let State::Typed(shape, derivation) = state.get() {
            counts[place_of(shape, derivation)] += 1;
        }
    }
    // Types that are written alike are one.
    let mut numbers: HashMap<BlockType, usize, FxBuildHasher> = HashMap::default();
    let mut types: Vec<(BlockType, u64)> = Vec::new();
    let mut number_of = vec![0; counts.len()];
    let keys = (0..shapes.len() as u32).map(ShapeId);
    let keys = keys.flat_map(|shape| DERIVATIONS.map(|derivation| (shape, derivation)));
    for ((shape, derivation), count) in keys.zip(&counts).filter(|(_, count)| **count > 0) {
        let ty = block_type(shapes, shapes.get(shape), derivation);
        let number = *numbers.entry(ty).or_insert_with_key(|ty| {
            types.push((ty.clone(), 0));
            types.len() - 1
        });
        types[number].1 += u64::from(*count);
        number_of[place_of(shape, derivation)] = number;
    }
    let mut order: Vec<usize> = (0..types.len()).collect();
    order.sort_rows_by_key(|number| Reverse(types[*number].1));
    let mut ids = vec![0u16; types.len()];
    for (id, number) in (1..).zip(order.iter().take(MAX_TYPES)) {
        ids[*number] = id;
    }
    let kept = order.iter().take(MAX_TYPES).map(|number| types[*number].0.clone()).collect();
    let mut of: Column<u16> = place.zeros(states.len())?;
    for (id, state) in of.iter_mut().zip(states) {
        if let State::Typed(shape, derivation) = state.get() {
            *id = ids[number_of[place_of(shape, derivation)]];
        }
    }
    Ok(BlockTypes::from_column(of, kept))
}

fn block_type(shapes: &Shapes<'_>, shape: &Shape, derivation: Derivation) -> BlockType {
    BlockType {
        name: names::text(shapes, shape.ty),
        constructor: constructor(shapes, shape),
        fields: field_names(shapes, shape),
        derivation,
    }
}

fn constructor(shapes: &Shapes<'_>, shape: &Shape) -> Option<String> {
    let table = shapes.instances.table;
    match (shape.part, shapes.instances.get(shape.ty)) {
        (Part::Thunk, _) => Some("not forced".to_owned()),
        (Part::Extension(number), _) => {
            table.extensions.get(number as usize).map(|extension| extension.name.clone())
        }
        (Part::Constructor(number), Type::Declared(declaration, _)) => {
            match &table.declaration(*declaration)?.definition {
                Definition::Variant(constructors) if constructors.len() > 1 => {
                    constructors.get(number as usize).map(|found| found.name.clone())
                }
                _ => None,
            }
        }
        (Part::Whole | Part::Constructor(_), _) => None,
    }
}

fn field_names(shapes: &Shapes<'_>, shape: &Shape) -> FieldNames {
    let table = shapes.instances.table;
    let fields: Vec<String> = match (shape.part, shapes.instances.get(shape.ty)) {
        (_, Type::Array(_) | Type::FloatArray) => return FieldNames::Elements,
        (_, Type::Module(module)) => table.module(*module).map_or_else(Vec::new, |module| {
            let last = |slot: &memtrail_types::Slot| slot.path.last().cloned().unwrap_or_default();
            module.slots.iter().map(last).collect()
        }),
        (_, Type::Unit(unit)) => unit_fields(shapes, *unit, shape),
        (_, Type::Extension(_)) => vec!["name".into(), "id".into()],
        (Part::Extension(number), _) => {
            let arguments = table.extensions.get(number as usize).map(|found| &found.arguments);
            let arguments = arguments.into_iter().flatten().map(|field| field.name.clone());
            std::iter::once(String::new()).chain(arguments).collect()
        }
        (part, Type::Declared(declaration, _)) => {
            match (part, table.declaration(*declaration).map(|of| &of.definition)) {
                (_, Some(Definition::Record { fields, .. })) => labels(fields),
                (Part::Constructor(number), Some(Definition::Variant(constructors))) => {
                    let found = constructors.get(number as usize);
                    found.map_or_else(Vec::new, |found| labels(&found.arguments))
                }
                _ if matches!(shape.fields, Fields::Weak { data: None, .. }) => {
                    return FieldNames::Elements;
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    if fields.iter().all(String::is_empty) { FieldNames::None } else { FieldNames::Names(fields) }
}

fn labels(fields: &[LabelledField]) -> Vec<String> {
    fields.iter().map(|field| field.name.clone()).collect()
}

fn unit_fields(shapes: &Shapes<'_>, unit: u32, shape: &Shape) -> Vec<String> {
    let (Some(unit), Fields::Each(types)) = (shapes.units.get(unit as usize), &shape.fields) else {
        return Vec::new();
    };
    let fields = types.len() as u64;
    let name = |number| match unit.layout.field(number, fields) {
        Some(Field::Slot(slot)) => slot.variable(),
        Some(Field::MethodCache) | None => String::new(),
    };
    (0..fields).map(name).collect()
}
