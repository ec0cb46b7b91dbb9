//! Where functions around an `external` are defined, which a module exports as a value: `let chdir = Unix.chdir`, or a
//! `val` that the implementation has as an `external`.
//!
//! The compiler makes such a function without a place in the source. It is the closure that the module's field has, and the
//! unit's files say where that field is defined.

use std::collections::BTreeMap;

use memtrail_heap::read::{Columns, Error, Function, Snapshot};
use memtrail_heap::{BlockIndex, FunctionDefinition};
use memtrail_ocaml::names;
use memtrail_types::Position;

use crate::definitions::definition;

/// Longer names are cut.
const MAX_NAME_LEN: usize = 512;

/// The value of a module's field.
#[derive(Clone, Copy, Debug)]
pub struct DefinedValue<'t> {
    /// Its block.
    pub block: BlockIndex,
    /// The module's unit, as the linker knows it.
    pub unit: &'t str,
    /// The field's name.
    pub name: &'t str,
    /// Where the field is defined.
    pub position: &'t Position,
}

/// The definitions of functions without a place that are the values of their own unit's fields. Of several fields with
/// one function none may be its own.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn definitions_of_values(
    snapshot: &Snapshot<'_>,
    values: &[DefinedValue<'_>],
) -> Result<Vec<FunctionDefinition>, Error> {
    if !snapshot.functions.iter().any(has_no_place) {
        return Ok(Vec::new());
    }
    let mut values = values.to_vec();
    values.sort_by_key(|value| value.block);
    let mut columns = Columns::new();
    let mut decoded = None;
    let mut found: BTreeMap<u32, Vec<&Position>> = BTreeMap::new();
    for value in &values {
        let Some(section) = snapshot.section_of(value.block) else { continue };
        if decoded != Some(section) {
            snapshot.decode(section, &mut columns)?;
            decoded = Some(section);
        }
        let place = (value.block.0 - columns.first.0) as usize;
        let Some(number) = columns.function(place) else { continue };
        let function = snapshot.functions.get(number as usize);
        if function.is_some_and(|function| has_no_place(function) && is_of(function, value)) {
            let positions = found.entry(number).or_default();
            if !positions.contains(&value.position) {
                positions.push(value.position);
            }
        }
    }
    let only = |(function, positions): (u32, Vec<&Position>)| {
        let [position] = positions[..] else { return None };
        definition(function, position)
    };
    Ok(found.into_iter().filter_map(only).collect())
}

/// Whether nothing is known of a function's lines.
fn has_no_place(function: &Function) -> bool {
    !function.is_partial && function.line == 0 && function.between.is_none()
}

/// Whether a function is of the value's unit, and has its name or none.
fn is_of(function: &Function, value: &DefinedValue<'_>) -> bool {
    let Some((unit, name)) = names::split_symbol(&function.symbol) else { return false };
    let mut text = [0; MAX_NAME_LEN];
    let mut is_called = || names::value(name, false, &mut text) == value.name.as_bytes();
    unit == value.unit.as_bytes() && (names::is_anonymous(name) || is_called())
}

#[cfg(test)]
mod tests {
    use memtrail_heap::Address;

    use super::*;

    fn function(symbol: &str) -> Function {
        Function {
            code: Address(0),
            is_partial: false,
            symbol: symbol.into(),
            name: Vec::new(),
            file: Vec::new(),
            line: 0,
            column: 0,
            is_start: false,
            is_of_cmt: false,
            between: None,
            is_of_class: false,
        }
    }

    #[test]
    fn values_are_of_their_unit_and_have_its_name_or_none() {
        let position = Position { file: "shop.ml".into(), line: 12, column: 1 };
        let value =
            DefinedValue { block: BlockIndex(0), unit: "Shop", name: "<", position: &position };
        for (symbol, expected) in [
            ("camlShop__fun_12", true),
            ("camlShop__$3c_12", true),
            ("camlShop.$3c_12", true),
            ("camlShop__add_12", false),
            ("camlStore__fun_12", false),
            ("caml_curry2", false),
        ] {
            assert_eq!(is_of(&function(symbol), &value), expected, "{symbol}");
        }
        assert!(has_no_place(&function("camlShop__fun_12")));
        assert!(!has_no_place(&Function { line: 9, ..function("camlShop__fun_12") }));
    }
}
