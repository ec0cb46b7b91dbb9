//! Where the functions of closures are defined.
//!
//! The symbol of a function with a name ends with the number that its name has in the unit's files, where the compiler
//! has no flambda: so its definition is known, also if its code has no line.

use hashbrown::HashMap;
use memtrail_heap::FunctionDefinition;
use memtrail_heap::read::Snapshot;
use memtrail_types::Position;
use memtrail_types::term::TypeTable;
use rustc_hash::FxBuildHasher;

/// Definitions by unit and name.
type ByName<'t> = HashMap<(&'t [u8], &'t [u8]), &'t Position, FxBuildHasher>;

/// The definitions of a snapshot's functions, as far as they are known.
pub fn definitions(snapshot: &Snapshot<'_>, table: &TypeTable) -> Vec<FunctionDefinition> {
    let mut by_name: ByName<'_> = HashMap::default();
    for unit in &table.named {
        for function in &unit.functions {
            if let Some(position) = &function.position {
                by_name.insert((unit.unit.as_bytes(), function.name.as_bytes()), position);
            }
        }
    }
    let found = |(number, function): (u32, &memtrail_heap::read::Function)| {
        definition(number, find(&by_name, &function.symbol)?)
    };
    (0..).zip(&snapshot.functions).filter_map(found).collect()
}

/// That of the function with this number is at a position.
pub(crate) fn definition(function: u32, position: &Position) -> Option<FunctionDefinition> {
    Some(FunctionDefinition {
        function,
        file: position.file.clone().into_bytes(),
        line: u32::try_from(position.line).ok()?,
        column: u32::try_from(position.column.saturating_sub(1)).ok()?,
    })
}

/// Where the function of a symbol is defined: `camlCache__add_271`, from OCaml 5.1 on `camlCache.add_271`. Units may
/// have two underscores in their names.
fn find<'t>(by_name: &ByName<'t>, symbol: &[u8]) -> Option<&'t Position> {
    let path = symbol.strip_prefix(b"caml")?;
    (0..path.len()).find_map(|end| {
        let (unit, rest) = path.split_at_checked(end)?;
        let name = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b"__"))?;
        by_name.get(&(unit, name)).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_symbols() {
        let at = |line| Position { file: "shop.ml".into(), line, column: 5 };
        let positions = [at(1), at(2), at(3)];
        let mut by_name: ByName<'_> = HashMap::default();
        by_name.insert((b"Shop", b"add_12"), &positions[0]);
        by_name.insert((b"Shop__Cart", b"add_12"), &positions[1]);
        by_name.insert((b"Shop__Cart", b"__12"), &positions[2]);
        let line = |symbol: &str| find(&by_name, symbol.as_bytes()).map(|position| position.line);
        assert_eq!(line("camlShop__add_12"), Some(1));
        assert_eq!(line("camlShop.add_12"), Some(1));
        assert_eq!(line("camlShop__Cart__add_12"), Some(2));
        assert_eq!(line("camlShop__Cart.add_12"), Some(2));
        assert_eq!(line("camlShop__Cart____12"), Some(3));
        for symbol in ["camlShop__add_13", "camlShop__add_12_code", "Shop__add_12", "caml", ""] {
            assert_eq!(line(symbol), None, "{symbol}");
        }
    }
}
