//! Environments of closures: what their function's free variables are.
//!
//! What a function captures, and in which order, is found by compiling its unit once more; that the program was compiled
//! in the same way is not certain. So a function's environment is used only if that of each of its closures in the
//! snapshot agrees with it: its size, and tag and size of all that it points to.

use memtrail_heap::read::{Columns, Error};
use memtrail_heap::tag;
use memtrail_types::term::{Definition, TypeTable};

use crate::flow::Flow;
use crate::functions::{Functions, Identified};
use crate::instances::{Type, TypeId};
use crate::sections::Sections;
use crate::shape::Check;
use crate::shapes::Shapes;

/// Pointers from environments are compared in portions of about so many.
const MAX_CAPTURED: usize = 1 << 20;

/// A pointer from an environment.
struct Captured {
    /// The block that it leads to.
    target: u32,
    /// What the free variable is.
    ty: TypeId,
    /// Which function's: a place among the snapshot's.
    function: u32,
    /// If this is a function, the closure is a partial application of it.
    is_no_function: bool,
}

/// The functions of a snapshot's closures, by number.
struct Known<'t> {
    functions: Vec<Option<Identified<'t>>>,
    /// Closures of these differ from what is known of them.
    differs: Vec<bool>,
}

/// Carries types through the environments of all closures that were reached, and of those that this reaches.
pub(crate) fn flow(
    flow: &mut Flow<'_>,
    sections: &mut Sections<'_, '_>,
    table: &TypeTable,
) -> Result<(), Error> {
    flow.through_closures();
    let functions = Functions::new(table);
    let identified = sections.snapshot.functions.iter();
    let identified = identified.map(|function| functions.identify(function)).collect::<Vec<_>>();
    let differs = vec![false; identified.len()];
    let mut known = Known { functions: identified, differs };
    if known.functions.iter().any(Option::is_some) {
        check(flow, sections, &mut known)?;
    }
    loop {
        let mut closures = std::mem::take(&mut flow.closures);
        if closures.is_empty() {
            return Ok(());
        }
        closures.sort_unstable();
        closures.dedup();
        let mut captured = Vec::new();
        in_sections(
            sections,
            &closures,
            |closure| *closure,
            |sections, columns, place, _| {
                let closure = (place, columns.function(place));
                environment(&mut flow.shapes, sections, columns, closure, &known, &mut captured);
            },
        )?;
        for Captured { target, ty, .. } in captured {
            flow.want(sections, target, ty);
        }
        flow.settle(sections)?;
    }
}

/// Compares the environments of all closures with what is known of their functions.
fn check(
    flow: &mut Flow<'_>,
    sections: &mut Sections<'_, '_>,
    known: &mut Known<'_>,
) -> Result<(), Error> {
    let mut captured = Vec::new();
    for section in 0..sections.snapshot.sections() {
        let was_kept = sections.is_kept(section);
        let columns = sections.take(section)?;
        for (place, function) in columns.functions() {
            if let Some(differs) = known.differs.get_mut(function as usize)
                && let Some(Some(identified)) = known.functions.get(function as usize)
            {
                let fits = fits(&mut flow.shapes, sections, &columns, place, identified);
                *differs |= !fits;
                let closure = (place, Some(function));
                environment(&mut flow.shapes, sections, &columns, closure, known, &mut captured);
            }
        }
        sections.put(section, columns, was_kept);
        if captured.len() >= MAX_CAPTURED {
            check_captured(flow, sections, known, std::mem::take(&mut captured))?;
        }
    }
    check_captured(flow, sections, known, captured)
}

/// Compares the blocks that environments point to with the types of variables.
fn check_captured(
    flow: &mut Flow<'_>,
    sections: &mut Sections<'_, '_>,
    known: &mut Known<'_>,
    mut captured: Vec<Captured>,
) -> Result<(), Error> {
    captured.sort_unstable_by_key(|captured| captured.target);
    in_sections(
        sections,
        &captured,
        |captured| captured.target,
        |_, columns, place, number| {
            let Some(block) = columns.get(place) else { return };
            let Captured { ty, function, is_no_function, .. } = captured[number];
            let Some(differs) = known.differs.get_mut(function as usize) else { return };
            if is_no_function && block.tag == tag::CLOSURE {
                *differs = true;
            }
            *differs |= block.wosize.0 > 0
                && flow.shapes.check(ty, block.tag, block.wosize.0) == Check::Contradiction;
        },
    )
}

/// Whether a closure has the size that it is to have, and pointers wherever a variable's values are all blocks.
fn fits(
    shapes: &mut Shapes<'_>,
    sections: &Sections<'_, '_>,
    columns: &Columns,
    place: usize,
    identified: &Identified<'_>,
) -> bool {
    let Some(block) = columns.get(place) else { return false };
    let function = identified.function;
    let before = u64::from(function.words_before);
    if before + function.environment.len() as u64 != block.wosize.0 {
        return false;
    }
    let mut has_pointer = vec![false; function.environment.len()];
    sections.edges(columns, place, |field, _| {
        let variable = field.checked_sub(before).and_then(|field| usize::try_from(field).ok());
        if let Some(has) = variable.and_then(|variable| has_pointer.get_mut(variable)) {
            *has = true;
        }
    });
    function.environment.iter().zip(has_pointer).all(|(variable, has_pointer)| {
        has_pointer
            || variable.ty.is_none_or(|term| {
                let ty = shapes.instances.closed(term);
                !is_block(shapes, ty)
            })
    })
}

/// Whether all values of a type are blocks with fields.
fn is_block(shapes: &mut Shapes<'_>, ty: TypeId) -> bool {
    let head = shapes.instances.head(ty);
    match shapes.instances.get(head) {
        Type::String(_) | Type::Float | Type::Boxed(_) | Type::Function | Type::Tuple(_) => true,
        Type::Declared(declaration, _) => {
            let declaration = shapes.instances.table.declaration(*declaration);
            declaration.is_some_and(|of| matches!(of.definition, Definition::Record { .. }))
        }
        _ => false,
    }
}

/// Calls `each` with the section and the place of blocks, which are in order, and their number among them.
fn in_sections<'s, 'a, T>(
    sections: &mut Sections<'s, 'a>,
    blocks: &[T],
    block: impl Fn(&T) -> u32,
    mut each: impl FnMut(&Sections<'s, 'a>, &Columns, usize, usize),
) -> Result<(), Error> {
    let mut number = 0;
    while let Some(first) = blocks.get(number) {
        let section = sections.of(block(first));
        let was_kept = sections.is_kept(section);
        let columns = sections.take(section)?;
        let end = columns.first.0 + columns.len() as u32;
        while let Some(found) = blocks.get(number)
            && block(found) < end
        {
            each(sections, &columns, (block(found) - columns.first.0) as usize, number);
            number += 1;
        }
        sections.put(section, columns, was_kept);
    }
    Ok(())
}

/// Adds what the environment of a closure points to, which is at a place and of a function.
fn environment(
    shapes: &mut Shapes<'_>,
    sections: &Sections<'_, '_>,
    columns: &Columns,
    (place, number): (usize, Option<u32>),
    known: &Known<'_>,
    captured: &mut Vec<Captured>,
) {
    let place_of = number.map(|number| number as usize);
    let identified = place_of.and_then(|number| known.functions.get(number).copied().flatten());
    let differs = place_of.and_then(|number| known.differs.get(number)) == Some(&true);
    let instances = &mut shapes.instances;
    let otherwise = instances.unknown(match identified {
        Some(_) if differs => "environment of a closure that differs",
        _ => "environment of a closure",
    });
    let own = instances.unknown("variable of the compiler's own");
    let identified = identified.filter(|_| !differs);
    sections.edges(columns, place, |field, target| {
        let variable = identified.and_then(|identified| {
            let function = identified.function;
            let place = field.checked_sub(u64::from(function.words_before))?;
            let variable = function.environment.get(usize::try_from(place).ok()?)?;
            let is_last = place + 1 == function.environment.len() as u64;
            Some((variable, is_last && identified.may_be_partial))
        });
        let (ty, is_no_function) = match variable {
            None => (otherwise, false),
            Some((variable, is_no_function)) => {
                let ty = variable.ty.map_or(own, |term| shapes.instances.closed(term));
                (ty, is_no_function)
            }
        };
        let function = number.unwrap_or(u32::MAX);
        captured.push(Captured { target, ty, function, is_no_function });
    });
}
