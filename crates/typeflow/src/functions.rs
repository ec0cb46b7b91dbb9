//! Which functions the closures of a snapshot are of.
//!
//! A function with a name is known by its symbol. One without a name is the innermost one around the place of its code.

use hashbrown::HashMap;
use memtrail_heap::read;
use memtrail_types::term::{Function, Place, TypeTable};
use rustc_hash::FxBuildHasher;

/// The function of a closure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identified<'t> {
    /// What its closures hold.
    pub(crate) function: &'t Function,
    /// It may be a partial application in this function instead: the closure of one ends with the function that is
    /// applied.
    pub(crate) may_be_partial: bool,
}

/// Functions by the symbols of their code.
pub(crate) struct Functions<'t> {
    named: HashMap<&'t [u8], &'t Function, FxBuildHasher>,
    /// By what symbols begin with: those without a name, and those inside them.
    anonymous: HashMap<&'t [u8], Vec<&'t Function>, FxBuildHasher>,
}

impl<'t> Functions<'t> {
    pub(crate) fn new(table: &'t TypeTable) -> Self {
        let mut named = HashMap::default();
        let mut anonymous: HashMap<&'t [u8], Vec<&'t Function>, _> = HashMap::default();
        // Functions inside one without a name are behind it.
        let mut last: Option<&'t str> = None;
        for function in &table.functions {
            if function.is_anonymous {
                last = Some(&function.symbol);
            } else {
                named.insert(function.symbol.as_bytes(), function);
            }
            if let Some(symbol) = last
                && function.symbol.starts_with(symbol.strip_suffix("fun").unwrap_or(symbol))
            {
                anonymous.entry(symbol.as_bytes()).or_default().push(function);
            }
        }
        Self { named, anonymous }
    }

    /// The function that a snapshot's closures are of.
    pub(crate) fn identify(&self, function: &read::Function) -> Option<Identified<'t>> {
        let symbol = function.symbol.strip_prefix(b"caml")?;
        if function.is_partial {
            return None;
        }
        if let Some(function) = self.named.get(symbol) {
            return Some(Identified { function, may_be_partial: false });
        }
        let place = Place { line: function.line, column: function.column };
        if place.line == 0 {
            return None;
        }
        let found = innermost(self.anonymous.get(prefix(symbol)?)?, place)?;
        let may_be_partial = found.partial.contains(&place);
        found.is_anonymous.then_some(Identified { function: found, may_be_partial })
    }
}

/// The symbol of a function without a name, without what makes it different from others of its unit.
fn prefix(symbol: &[u8]) -> Option<&[u8]> {
    let digits = symbol.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let prefix = symbol.get(..symbol.len().checked_sub(digits)?)?.strip_suffix(b"_")?;
    prefix.ends_with(b"fun").then_some(prefix)
}

/// The innermost of several functions around a place; none if several are in the same place.
fn innermost<'t>(functions: &[&'t Function], place: Place) -> Option<&'t Function> {
    let mut found: Option<(&'t Function, bool)> = None;
    for function in functions {
        let Some(span) = function.place else { continue };
        if !(span.start..=span.end).contains(&place) {
            continue;
        }
        let best = found.and_then(|(best, _)| best.place);
        found = match best {
            Some(best) if best == span => found.map(|(best, _)| (best, false)),
            Some(best) if best.start > span.start || best.end < span.end => found,
            _ => Some((function, true)),
        };
    }
    found.filter(|(_, is_only)| *is_only).map(|(function, _)| function)
}

#[cfg(test)]
mod tests {
    use memtrail_types::term::Span;

    use super::*;

    fn at(start: (u32, u32), end: (u32, u32)) -> Function {
        let place = |(line, column)| Place { line, column };
        Function {
            symbol: "Shop.fun".into(),
            is_anonymous: true,
            place: Some(Span { start: place(start), end: place(end) }),
            words_before: 2,
            environment: Vec::new(),
            partial: Vec::new(),
        }
    }

    #[test]
    fn the_innermost_function_around_a_place() {
        let all = [at((1, 0), (9, 0)), at((2, 4), (5, 0)), at((3, 0), (3, 9)), at((6, 0), (6, 9))];
        let twice = [at((7, 0), (7, 9)), at((7, 0), (7, 9))];
        let functions: Vec<&Function> = all.iter().chain(&twice).collect();
        let found = |line, column| {
            let found = innermost(&functions, Place { line, column })?;
            all.iter().position(|one| std::ptr::eq(one, found))
        };
        assert_eq!(found(1, 3), Some(0));
        assert_eq!(found(2, 3), Some(0));
        assert_eq!(found(2, 4), Some(1));
        assert_eq!(found(3, 5), Some(2));
        assert_eq!(found(4, 5), Some(1));
        assert_eq!(found(6, 5), Some(3));
        assert_eq!(found(7, 5), None, "two are there");
        assert_eq!(found(10, 5), None);
    }

    #[test]
    fn symbols_of_functions_without_a_name() {
        assert_eq!(prefix(b"Shop__fun_12"), Some(b"Shop__fun".as_slice()));
        assert_eq!(prefix(b"Shop.fun_12"), Some(b"Shop.fun".as_slice()));
        for symbol in ["Shop.on_order_12", "Shop.fun", "fun", "", "12"] {
            assert_eq!(prefix(symbol.as_bytes()), None, "{symbol}");
        }
    }
}
