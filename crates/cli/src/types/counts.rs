//! How many types were found, and why parts of them are not known.

use std::collections::BTreeMap;

use memtrail_types::term::{Content, Definition, Term};
use memtrail_types::{SlotKind, Types};
use serde::Serialize;

/// Counts of a program's types.
#[derive(Serialize)]
pub(super) struct Counts<'a> {
    /// Named variables that are values of the core language.
    pub(super) values: u64,
    /// Those of a type of which something is known.
    pub(super) typed: u64,
    /// Declared types.
    pub(super) declarations: u64,
    /// Those of which nothing more is known than their name.
    abstract_declarations: u64,
    /// Modules' blocks that are no units'.
    modules: u64,
    /// Constructors of extensible types, exceptions among them.
    extensions: u64,
    /// Functions whose closures' variables are known.
    pub(super) functions: u64,
    /// Why values, and parts of other types, are not known: how often each is spoken of.
    unknown: BTreeMap<&'a str, u64>,
}

impl<'a> Counts<'a> {
    pub(super) fn of(types: &'a Types) -> Self {
        let table = &types.table;
        let is_abstract = |definition: &Definition| matches!(definition, Definition::Abstract);
        let mut counts = Self {
            values: 0,
            typed: 0,
            declarations: table.declarations.len() as u64,
            abstract_declarations: table
                .declarations
                .iter()
                .filter(|declaration| is_abstract(&declaration.definition))
                .count() as u64,
            modules: table.modules.len() as u64,
            extensions: table.extensions.len() as u64,
            functions: table.functions.len() as u64,
            unknown: BTreeMap::new(),
        };
        for unit in &types.units {
            let slots =
                unit.layout.iter().flat_map(|layout| layout.exported.iter().chain(&layout.hidden));
            for slot in slots.filter(|slot| slot.kind == SlotKind::Value) {
                counts.values += 1;
                let Content::Value(id) = slot.content else { continue };
                match table.term(id) {
                    Some(Term::Unknown(reason)) => *counts.unknown.entry(reason).or_insert(0) += 1,
                    Some(_) => counts.typed += 1,
                    None => {}
                }
            }
        }
        let parts =
            table.declarations.iter().flat_map(|declaration| declaration.definition.terms());
        for part in parts {
            if let Some(Term::Unknown(reason)) = table.term(part) {
                *counts.unknown.entry(reason).or_insert(0) += 1;
            }
        }
        counts
    }
}
