//! Members of packed libraries (`-pack`) as units.
//!
//! A library that was packed has one unit, whose fields are its members, and often nothing but the packed `.cmi` is
//! installed. Each member has a block under its own symbol (`camlLib__Cache`), with the fields that its interface exports
//! first, and behind them those that it keeps for itself (`asmcomp/asmpackager.ml`, `Translmod.transl_store_package`).
//! So a member is like a unit of which the interface alone was found: what the library's interface says of it is the
//! layout of its first fields.

use std::collections::HashMap;

use memtrail_order::SortRows as _;

use crate::program::{Member, ProgramUnit};
use crate::slot::{Slot, SlotKind};
use crate::term::{Content, TypeTable};
use crate::unit::{Evidence, Layout, Unit};

/// Between a library's name and a member's, in names of units and in symbols since OCaml 5.2.
const SEPARATORS: [&str; 2] = ["__", "."];

/// Adds the members of packed units whose interfaces are known.
pub(crate) fn add_members(program: &[ProgramUnit], units: &mut Vec<Unit>, table: &TypeTable) {
    let mut members: Vec<&Member> = program.iter().flat_map(|unit| &unit.members).collect();
    // A pack in a pack comes before what is in it.
    members.sort_rows_by_key(|member| member.name.len());
    let mut places: HashMap<String, usize> =
        units.iter().enumerate().map(|(place, unit)| (unit.name.clone(), place)).collect();
    for member in members {
        if places.contains_key(&member.name) {
            continue;
        }
        if let Some(unit) = unit_of(member, units, &places, table) {
            places.insert(unit.name.clone(), units.len());
            units.push(unit);
        }
    }
}

fn unit_of(
    member: &Member,
    units: &[Unit],
    places: &HashMap<String, usize>,
    table: &TypeTable,
) -> Option<Unit> {
    let (pack, slot) = SEPARATORS.iter().find_map(|separator| {
        let mut ends = member.name.rmatch_indices(separator);
        ends.find_map(|(end, _)| {
            let pack = units.get(*places.get(&member.name[..end])?)?;
            let own = &member.name[end + separator.len()..];
            Some((pack, slot_of(pack, own)?))
        })
    })?;
    let Content::Module(module) = slot.content else { return None };
    let exported = table
        .module(module)?
        .slots
        .iter()
        .cloned()
        .map(|slot| Slot { path: slot.path.last().cloned().into_iter().collect(), ..slot });
    Some(Unit {
        name: member.name.clone(),
        interface: None,
        implementation: None,
        fields: member.fields,
        layout: Some(Layout {
            interface_file: pack.layout.as_ref()?.interface_file.clone(),
            implementation_file: String::new(),
            evidence: Evidence::Interface,
            method_cache: false,
            exported: exported.collect(),
            hidden: Vec::new(),
        }),
        problems: Vec::new(),
    })
}

/// The member of this name in a pack.
fn slot_of<'u>(pack: &'u Unit, own: &str) -> Option<&'u Slot> {
    let exported = &pack.layout.as_ref()?.exported;
    exported
        .iter()
        .find(|slot| slot.kind == SlotKind::Module && slot.path.last().is_some_and(|n| n == own))
}
