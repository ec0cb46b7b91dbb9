//! Environments of closures: what their function's free variables are.
//!
//! The order of free variables is deduced from the source, not known from the program. So the environment of a closure is used only if all
//! that it points to agrees with it, and never that of a function of which there may be several instances with
//! other types.

use hashbrown::HashMap;
use memtrail_heap::read::{self, Columns, Error};
use memtrail_types::term::{Function, TypeTable};
use rustc_hash::FxBuildHasher;

use crate::flow::Flow;
use crate::instances::TypeId;
use crate::sections::Sections;
use crate::shapes::Check;

/// Words of a closure before its environment: code, arity, and for those of several arguments the code once more.
const BEFORE_ENVIRONMENT: u64 = 2;

/// A pointer from an environment.
struct Captured {
    /// The block that it leads to.
    target: u32,
    /// What the free variable is.
    ty: TypeId,
    /// Which closure: a place among those that are looked at.
    closure: u32,
}

/// Functions by the symbols of their code.
pub(crate) struct Functions<'t>(HashMap<&'t [u8], &'t Function, FxBuildHasher>);

impl<'t> Functions<'t> {
    pub(crate) fn new(table: &'t TypeTable) -> Self {
        let usable = table.functions.iter().filter(|function| !function.is_generic);
        Self(usable.map(|function| (function.symbol.as_bytes(), function)).collect())
    }

    fn of(&self, function: &read::Function) -> Option<&'t Function> {
        self.0.get(function.name.as_slice()).copied()
    }
}

/// Carries types through the environments of all closures that were reached, and of those that this reaches.
pub(crate) fn flow(
    flow: &mut Flow<'_>,
    sections: &mut Sections<'_, '_>,
    functions: &Functions<'_>,
) -> Result<(), Error> {
    flow.through_closures();
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
            |sections, columns, place, number| {
                environment(flow, sections, columns, place, functions, number, &mut captured);
            },
        )?;
        captured.sort_unstable_by_key(|captured| captured.target);
        let mut is_wrong = vec![false; closures.len()];
        in_sections(
            sections,
            &captured,
            |captured| captured.target,
            |_, columns, place, number| {
                let Some(block) = columns.get(place) else { return };
                let Captured { ty, closure, .. } = captured[number];
                if block.wosize.0 > 0
                    && flow.shapes.check(ty, block.tag, block.wosize.0) == Check::Contradiction
                {
                    is_wrong[closure as usize] = true;
                }
            },
        )?;
        let differs = flow.shapes.instances.unknown("environment of a closure that differs");
        for Captured { target, ty, closure } in captured {
            let ty = if is_wrong[closure as usize] { differs } else { ty };
            flow.want(sections, target, ty);
        }
        flow.settle(sections)?;
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

/// Adds what a closure's environment points to.
fn environment(
    flow: &mut Flow<'_>,
    sections: &Sections<'_, '_>,
    columns: &Columns,
    place: usize,
    functions: &Functions<'_>,
    closure: usize,
    captured: &mut Vec<Captured>,
) {
    let Some(block) = columns.get(place) else { return };
    let function = columns
        .function(place)
        .and_then(|number| sections.snapshot.functions.get(number as usize))
        .and_then(|function| functions.of(function));
    let function = function.filter(|function| {
        let start = BEFORE_ENVIRONMENT + u64::from(function.arity != 1);
        start + function.environment.len() as u64 == block.wosize.0
    });
    let instances = &mut flow.shapes.instances;
    let unknown = instances.unknown("environment of a closure");
    let module = instances.unknown("module in the environment of a closure");
    sections.edges(columns, place, |field, target| {
        let variable = function.and_then(|function| {
            let start = BEFORE_ENVIRONMENT + u64::from(function.arity != 1);
            function.environment.get(usize::try_from(field.checked_sub(start)?).ok()?)
        });
        let ty = match variable {
            None => unknown,
            Some(variable) => match variable.ty {
                Some(term) => flow.shapes.instances.closed(term),
                None => module,
            },
        };
        captured.push(Captured { target, ty, closure: closure as u32 });
    });
}
