//! Whether debug information in a function's code is of the function itself, and what the function is called by it.
//!
//! Code may be in a function without the debug information of the place that it was inlined at: that of functions which
//! are called in generated code, and that of local functions that became a part of the function around them
//! (`simplify_local_functions` in `lambda/simplif.ml`). The function's symbol has its own name.

use crate::names;

/// What debug information in a function's code is of, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The function, or one inside it.
    Function,
    /// The function of another unit that this one is a copy of.
    Copied,
    /// Its compilation unit.
    Unit,
    /// Another unit, whose code was inlined.
    Other,
}

/// Longer values of symbols are cut.
const MAX_VALUE_LEN: usize = 256;

/// What debug information is of that has the name `name` and is in the code of the function `symbol`, and which part
/// of the name is that of the function: `Shop.add` in `Shop.add.(fun)`, the whole name if none is.
pub fn own_name<'n>(symbol: &[u8], name: &'n [u8]) -> (Origin, &'n [u8]) {
    let Some((unit, value)) = names::split_symbol(symbol) else { return (Origin::Unit, name) };
    let mut text = [0; MAX_VALUE_LEN];
    let value = names::value(value, true, &mut text);
    let name_unit = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    let is_unit = name.is_empty() || is_of_unit(unit, name_unit);
    match (through(name, value), is_unit) {
        (Some(own), true) => (Origin::Function, own),
        (Some(own), false) => (Origin::Copied, own),
        (None, true) => (Origin::Unit, name),
        (None, false) => (Origin::Other, name),
    }
}

/// Whether a symbol's unit is that of a name. A symbol's begins with the pack that the unit is in, and ends with the
/// functor whose function has the symbol.
fn is_of_unit(unit: &[u8], name_unit: &[u8]) -> bool {
    let is_in_pack =
        unit.strip_suffix(name_unit).is_some_and(|pack| pack.is_empty() || pack.ends_with(b"__"));
    is_in_pack || unit.strip_prefix(name_unit).is_some_and(|functor| functor.starts_with(b"__"))
}

/// A name up to the last of its components that is a function's.
fn through<'n>(name: &'n [u8], value: &[u8]) -> Option<&'n [u8]> {
    if names::is_anonymous(value) {
        return through_component(name, b"(fun)");
    }
    // Functions with optional arguments have one inside that takes all.
    let without_wrapper = value.strip_suffix(b"_inner");
    let operator = [b"(", value, b")"].concat();
    through_component(name, value)
        .or_else(|| through_component(name, &operator))
        .or_else(|| through_component(name, without_wrapper?))
}

fn through_component<'n>(name: &'n [u8], component: &[u8]) -> Option<&'n [u8]> {
    let is_component = |end: &usize| {
        let ends = matches!(name.get(*end), None | Some(b'.'));
        let before = name.get(..*end).and_then(|name| name.strip_suffix(component));
        ends && before.is_some_and(|before| before.ends_with(b"."))
    };
    if component.is_empty() {
        return None;
    }
    let end = (component.len()..=name.len()).rev().find(is_component)?;
    name.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(symbol: &str, name: &str) -> (Origin, String) {
        let (origin, own) = own_name(symbol.as_bytes(), name.as_bytes());
        (origin, String::from_utf8_lossy(own).into_owned())
    }

    #[test]
    fn names_end_with_the_function() {
        for (symbol, name, expected) in [
            ("camlShop__add_12", "Shop.add", "Shop.add"),
            ("camlShop.add_12_code", "Shop.Cart.add.(fun)", "Shop.Cart.add"),
            (
                "camlStdlib__Map__equal_576",
                "Stdlib__Map.Make.equal.equal_aux",
                "Stdlib__Map.Make.equal",
            ),
            ("camlShop__add_12", "Shop.add.add.(fun)", "Shop.add.add"),
            ("camlShop__fun_12", "Shop.add.(fun).tail", "Shop.add.(fun)"),
            ("camlShop__fun_12", "Shop.add.(fun)", "Shop.add.(fun)"),
            (
                "camlShop.anon_fn$5bshop.ml$3a16$2c24$2d$2d40$5d_7",
                "Shop.add.(fun)",
                "Shop.add.(fun)",
            ),
            ("camlShop__$2b$2b_12", "Shop.(++).(fun)", "Shop.(++)"),
            ("camlStdlib.$5e_136", "Stdlib.^", "Stdlib.^"),
            ("camlShop__add_inner_12", "Shop.add", "Shop.add"),
        ] {
            assert_eq!(own(symbol, name), (Origin::Function, expected.to_owned()), "{symbol}");
        }
        let copy = own("camlCart.update_6309", "Stdlib__Map.Make.update.(fun)");
        assert_eq!(copy, (Origin::Copied, "Stdlib__Map.Make.update".to_owned()));
    }

    #[test]
    fn inlined_code_of_other_units_is_not_the_functions_own() {
        for (symbol, name) in [
            ("camlShop.cart_init_120", "CamlinternalOO.get_method_labels"),
            ("camlShop.anon_fn_345", "CamlinternalOO.run_initializers_opt"),
            ("camlShop.remove_3823", "Lwt_mutex.with_lock.add"),
            ("camlShop.add_3", "Workshop.sum"),
            ("camlWorkshop.add_3", "Shop.sum"),
        ] {
            assert_eq!(own(symbol, name), (Origin::Other, name.to_owned()), "{symbol}");
        }
    }

    #[test]
    fn names_without_the_function_are_of_its_unit() {
        for (symbol, name) in [
            ("camlShop__fun_12", "Shop.cart#total"),
            ("camlShop.Make_12", "Shop.sum"),
            ("camlShop__add_3", "Shop.sum.addition"),
            ("camlDune__exe__Shop__add_3", "Dune__exe__Shop.sum"),
            ("camlStore__Shop__add_3", "Shop.sum"),
            ("camlStdlib__Map__Make_12", "Stdlib__Map.Make"),
            ("add", "Shop.sum"),
            ("camlShop__add_3", ""),
            ("", ""),
        ] {
            assert_eq!(own(symbol, name), (Origin::Unit, name.to_owned()), "{symbol}");
        }
    }
}
