//! Names of functions, as people know them.
//!
//! There are two kinds. Debug information has the path of the source (`Stdlib__List.map`, `Sample.big.(fun)`), which
//! memtrace writes into its traces as it is. Linker symbols have been mangled (`asmcomp/compilenv.ml`,
//! `middle_end/symbol.ml`): `camlStdlib__List__map_123` up to 5.0, `camlStdlib__List.map_123` from 5.1.
//!
//! Names are bytes; nothing here takes them to be UTF-8.

/// Writes into `out` a function's name from debug information as people read it, as much as fits.
///
/// Only the compilation unit, the part before the first dot, changes: `Stdlib__List.map` becomes `Stdlib.List.map`, and
/// dune's `Dune__exe__Main.f` becomes `Main.f`.
pub fn write_name<'a>(name: &[u8], out: &'a mut [u8]) -> &'a [u8] {
    let mut out = Output::new(out);
    let end = name.iter().position(|&byte| byte == b'.').unwrap_or(name.len());
    let (unit, rest) = name.split_at_checked(end).unwrap_or((name, &[]));
    out.unit(unit);
    out.put(rest);
    out.written()
}

/// Writes into `out` what a linker symbol stands for, as much as fits; `None` if OCaml's compiler did not make it.
///
/// `camlStdlib__List__map_123` and `camlStdlib__List.map_123` become `Stdlib.List.map`.
pub fn demangle<'a>(symbol: &[u8], out: &'a mut [u8]) -> Option<&'a [u8]> {
    let (unit, name) = split_symbol(symbol)?;
    let mut out = Output::new(out);
    out.unit(unit);
    if !name.is_empty() {
        out.byte(b'.');
        out.unescaped(name);
    }
    Some(out.written())
}

/// Writes into `out` what a function's linker symbol stands for, as [`demangle`] does. An anonymous
/// function is `Shop.(fun)`; with `keep_stamp` it is `Shop.(fun 123)`, by the number that its symbol ends with.
pub fn function<'a>(symbol: &[u8], keep_stamp: bool, out: &'a mut [u8]) -> Option<&'a [u8]> {
    let (unit, name) = split_symbol(symbol)?;
    if !is_anonymous(name) {
        return demangle(symbol, out);
    }
    let mut out = Output::new(out);
    out.unit(unit);
    out.put(b".(fun");
    if keep_stamp {
        let symbol = symbol.strip_suffix(b"_code").unwrap_or(symbol);
        let digits = symbol.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        out.byte(b' ');
        out.put(symbol.get(symbol.len().saturating_sub(digits)..).unwrap_or_default());
    }
    out.byte(b')');
    Some(out.written())
}

/// What flambda calls functions without a name.
const FLAMBDA: &[u8] = b"anon_fn";

/// Whether a symbol's value, mangled or not, is a function without a name: `fun`, with flambda `anon_fn`, from 5.4 on
/// `anon_fn[shop.ml:16,24--40]`.
pub fn is_anonymous(value: &[u8]) -> bool {
    value == b"fun"
        || value.strip_prefix(FLAMBDA).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(b"$5b") || rest.starts_with(b"[")
        })
}

/// Whether a function with this symbol may be one that the compiler made itself, which has no place in the source: it
/// has neither a name nor a place, or sets up a class.
pub fn may_be_generated(symbol: &[u8]) -> bool {
    let value = split_symbol(symbol).map_or(&b""[..], |(_, value)| value);
    value == b"fun" || value == FLAMBDA || value.ends_with(b"_init")
}

/// Whether a symbol is one that only flambda gives: that of a function without a name.
pub fn is_flambda(symbol: &[u8]) -> bool {
    let may_be = symbol.windows(FLAMBDA.len()).any(|part| part == FLAMBDA);
    may_be && split_symbol(symbol).is_some_and(|(_, value)| value != b"fun" && is_anonymous(value))
}

/// Where a function without a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnonymousPlace<'a> {
    /// Its file, without folders.
    pub file: &'a [u8],
    /// Its line, from 1.
    pub line: u32,
    /// The column where it starts, from 0.
    pub column: u32,
}

/// The place that an anonymous function's symbol has from 5.4 on: `camlShop.anon_fn$5bshop.ml$3a16$2c24$2d$2d40$5d_7`.
/// `into` receives the file.
pub fn anonymous_place<'a>(symbol: &[u8], into: &'a mut [u8]) -> Option<AnonymousPlace<'a>> {
    let (_, name) = split_symbol(symbol)?;
    let mut out = Output::new(into);
    out.unescaped(name.strip_prefix(b"anon_fn")?);
    let text = out.written().strip_prefix(b"[")?;
    let colon = text.iter().rposition(|&byte| byte == b':')?;
    let (file, numbers) = text.split_at_checked(colon)?;
    let mut numbers = numbers.get(1..)?.split(|byte| !byte.is_ascii_digit());
    let mut number = || std::str::from_utf8(numbers.next()?).ok()?.parse().ok();
    let (line, column) = (number()?, number()?);
    Some(AnonymousPlace { file, line, column })
}

/// Whether a symbol is that of code of partial applications (`asmcomp/cmm_helpers.ml`): `caml_curry3`, which takes
/// the first argument, `caml_curry3_1`, the second, and `caml_curry3_1_app`, all that are left.
pub fn is_partial_application(symbol: &[u8]) -> bool {
    symbol
        .strip_prefix(b"caml_curry")
        .is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

/// Whether a symbol is the runtime's code that calls C functions, whose address it is given.
pub fn is_c_call(symbol: &[u8]) -> bool {
    symbol == b"caml_c_call" || symbol.starts_with(b"caml_c_call_")
}

/// Whether a symbol is one of the runtime that code of any function may use, whatever the function does: those that collect,
/// allocate and raise exceptions, and the operations of boxed integers.
pub fn is_code_support(symbol: &[u8]) -> bool {
    const SUPPORT: [&[u8]; 10] = [
        b"caml_call_gc",
        b"caml_call_realloc_stack",
        b"caml_alloc1",
        b"caml_alloc2",
        b"caml_alloc3",
        b"caml_allocN",
        b"caml_ml_array_bound_error",
        b"caml_int32_ops",
        b"caml_int64_ops",
        b"caml_nativeint_ops",
    ];
    SUPPORT.contains(&symbol)
}

/// Whether a symbol is that of a C function, and not of code that OCaml's compiler made or that applies functions.
pub fn is_c_function(symbol: &[u8]) -> bool {
    const APPLIES: [&[u8]; 4] = [b"caml_apply", b"caml_curry", b"caml_tuplify", b"caml_send"];
    split_symbol(symbol).is_none() && !APPLIES.iter().any(|start| symbol.starts_with(start))
}

/// The number that makes a symbol unique.
pub fn stamp(symbol: &[u8]) -> Option<u64> {
    let symbol = symbol.strip_suffix(b"_code").unwrap_or(symbol);
    let digits = symbol.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = symbol.get(symbol.len().checked_sub(digits)?..)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Splits the linker symbol of a unit's data: the unit as the linker knows it, and the value's name, empty for the
/// module's block itself. `None` if OCaml's compiler did not make it.
///
/// `camlStdlib__Hashtbl` is `(Stdlib__Hashtbl, )`, `camlStdlib__Hashtbl__randomized_12` has `randomized`.
pub fn split_symbol(symbol: &[u8]) -> Option<(&[u8], &[u8])> {
    let path = symbol.strip_prefix(b"caml")?;
    if !path.first()?.is_ascii_uppercase() {
        return None;
    }
    let (unit, name) = match path.iter().position(|&byte| byte == b'.') {
        Some(dot) => path.split_at_checked(dot)?,
        None => split_unit(path)?,
    };
    // Both separators are dropped: the dot, and two underscores.
    let name = name.strip_prefix(b".").or_else(|| name.strip_prefix(b"__")).unwrap_or(name);
    Some((unit, without_stamp(name)))
}

/// The unit whose table of static blocks has this symbol: `camlShop__gc_roots`.
pub fn unit_of_table(symbol: &[u8]) -> Option<&[u8]> {
    unit_of(symbol, b"gc_roots")
}

/// The unit that a symbol is of, if it is one that each unit has, with this name: `entry`, `data_begin`.
pub fn unit_of<'s>(symbol: &'s [u8], name: &[u8]) -> Option<&'s [u8]> {
    let unit = symbol.strip_prefix(b"caml")?.strip_suffix(name)?;
    let unit = unit.strip_suffix(b"__").or_else(|| unit.strip_suffix(b"."))?;
    unit.first()?.is_ascii_uppercase().then_some(unit)
}

/// Splits the linker symbol of a unit's data as [`split_symbol`] does, where the program's units are known, and
/// leaves the value its stamp. With flambda all values have symbols, and their names may begin with a capital:
/// `camlShop__Cart_12` is `(Shop, Cart_12)`, unless there is a unit `Shop__Cart_12`.
pub fn split_data_symbol(symbol: &[u8], is_unit: impl Fn(&[u8]) -> bool) -> Option<(&[u8], &[u8])> {
    let path = symbol.strip_prefix(b"caml")?;
    if is_unit(path) {
        return Some((path, b""));
    }
    // The longest unit is meant.
    (0..path.len()).rev().find_map(|end| {
        let (unit, rest) = path.split_at_checked(end)?;
        let value = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b"__"))?;
        is_unit(unit).then_some((unit, value))
    })
}

/// Writes into `out` the name of a value in a data symbol, as much as fits: `table_12` is `table`, with `keep_stamp`
/// `table_12`.
pub fn value<'a>(value: &[u8], keep_stamp: bool, out: &'a mut [u8]) -> &'a [u8] {
    let mut out = Output::new(out);
    out.unescaped(if keep_stamp { value } else { without_stamp(value) });
    out.written()
}

/// Splits a path of the older mangling behind its last component that begins with a capital: the unit, and the modules
/// of functors, whose name is one of the values.
fn split_unit(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let capital = (0..path.len())
        .rev()
        .filter(|&at| path.get(..at).is_some_and(|before| before.ends_with(b"__")))
        .find(|&at| path.get(at).is_some_and(u8::is_ascii_uppercase))
        .unwrap_or(0);
    let last = path.get(capital..)?;
    let end = last.windows(2).position(|pair| pair == b"__").unwrap_or(last.len());
    let (unit, name) = path.split_at_checked(capital + end)?;
    if name.is_empty() {
        // A functor is a value as well: its stamp goes, too.
        return Some((without_stamp(unit), name));
    }
    Some((unit, name))
}

/// A symbol's value without the `_123` that makes its name unique, and without flambda's `_code` behind it.
pub fn without_stamp(name: &[u8]) -> &[u8] {
    let name = match name.strip_suffix(b"_code") {
        Some(stem) if stem.last().is_some_and(u8::is_ascii_digit) => stem,
        _ => name,
    };
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let stem = name.get(..name.len().saturating_sub(digits)).unwrap_or(name);
    match stem.strip_suffix(b"_") {
        Some(stem) if digits > 0 && !stem.is_empty() => stem,
        _ => name,
    }
}

/// Bytes written so far; what does not fit is dropped.
struct Output<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl<'a> Output<'a> {
    const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, length: 0 }
    }

    fn byte(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    /// A compilation unit: two underscores between components are a dot.
    fn unit(&mut self, unit: &[u8]) {
        const DUNE: &[u8] = b"Dune__exe__";
        let mut rest = match unit.strip_prefix(DUNE) {
            Some(rest) if !rest.is_empty() => rest,
            _ => unit,
        };
        let mut first = true;
        while let Some((&byte, tail)) = rest.split_first() {
            match tail.strip_prefix(b"_") {
                Some(tail)
                    if byte == b'_'
                        && !first
                        && tail.first().is_some_and(u8::is_ascii_alphabetic) =>
                {
                    self.byte(b'.');
                    rest = tail;
                }
                _ => {
                    self.byte(byte);
                    rest = tail;
                }
            }
            first = false;
        }
    }

    /// A name with `$xx` for each byte that no symbol may have.
    fn unescaped(&mut self, mut name: &[u8]) {
        while let Some((&byte, tail)) = name.split_first() {
            match (byte, tail.split_first_chunk::<2>()) {
                (b'$', Some(([high, low], after)))
                    if hex(*high).is_some() && hex(*low).is_some() =>
                {
                    self.byte(hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0));
                    name = after;
                }
                _ => {
                    self.byte(byte);
                    name = tail;
                }
            }
        }
    }

    fn written(self) -> &'a [u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

const fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> String {
        let mut out = [0; 256];
        String::from_utf8_lossy(write_name(text.as_bytes(), &mut out)).into_owned()
    }

    fn symbol(text: &str) -> Option<String> {
        let mut out = [0; 256];
        demangle(text.as_bytes(), &mut out).map(|name| String::from_utf8_lossy(name).into_owned())
    }

    #[test]
    fn units_are_paths() {
        for (linked, known) in [
            ("Stdlib__List.map", "Stdlib.List.map"),
            ("Stdlib.@", "Stdlib.@"),
            ("Stdlib__set.Make.bal", "Stdlib.set.Make.bal"),
            ("Dune__exe__Main.f", "Main.f"),
            ("Dune__exe", "Dune.exe"),
            ("Dune__exe__", "Dune.exe__"),
            ("Sample.big.(fun)", "Sample.big.(fun)"),
            ("My_unit.a__b", "My_unit.a__b"),
            ("A__b__C_d.f", "A.b.C_d.f"),
            ("__A.f", "__A.f"),
            ("A___B.f", "A_.B.f"),
            ("", ""),
            (".", "."),
        ] {
            assert_eq!(name(linked), known);
        }
    }

    #[test]
    fn symbols_of_either_mangling_are_undone() {
        for (linked, known) in [
            ("camlStdlib__List__map_123", "Stdlib.List.map"),
            ("camlStdlib__List.map_123", "Stdlib.List.map"),
            ("camlStdlib__Arg__add_help_585", "Stdlib.Arg.add_help"),
            ("camlStdlib__$5e_136", "Stdlib.^"),
            ("camlStdlib.$40_312", "Stdlib.@"),
            ("camlDune__exe__Main__f_7", "Main.f"),
            ("camlDune__exe__Main.f_7_code", "Main.f"),
            ("camlSample__fun_1042", "Sample.fun"),
            ("camlSample__a__b_12", "Sample.a__b"),
            ("camlStdlib__Map__Make_1234", "Stdlib.Map.Make"),
            ("camlStdlib__Map__entry", "Stdlib.Map.entry"),
            ("camlStdlib__Map", "Stdlib.Map"),
            ("camlFoo__code_begin", "Foo.code_begin"),
            ("camlFoo__f_", "Foo.f_"),
            ("camlFoo___5", "Foo._5"),
            ("camlFoo$a\u{e9}", "Foo$a\u{e9}"),
            ("camlFoo__a$zz$4", "Foo.a$zz$4"),
        ] {
            assert_eq!(symbol(linked).as_deref(), Some(known), "{linked}");
        }
    }

    #[test]
    fn data_symbols_are_split_into_unit_and_value() {
        for (linked, unit, value) in [
            ("camlStdlib__Hashtbl", "Stdlib__Hashtbl", ""),
            ("camlStdlib__Hashtbl__randomized_12", "Stdlib__Hashtbl", "randomized"),
            ("camlStdlib__Hashtbl.randomized_12", "Stdlib__Hashtbl", "randomized"),
            ("camlMain", "Main", ""),
            ("camlMain__7", "Main", "7"),
        ] {
            let split = split_symbol(linked.as_bytes());
            assert_eq!(split, Some((unit.as_bytes(), value.as_bytes())), "{linked}");
        }
        assert_eq!(split_symbol(b"caml_globals"), None);
        assert_eq!(split_symbol(b""), None);
    }

    #[test]
    fn tables_of_units_are_known_by_their_symbols() {
        for (symbol, unit) in [
            ("camlShop__gc_roots", Some("Shop")),
            ("camlShop__Cart.gc_roots", Some("Shop__Cart")),
            ("camlgc_roots", None),
            ("camlShop_gc_roots", None),
            ("caml_gc_roots", None),
            ("camlShop", None),
        ] {
            assert_eq!(unit_of_table(symbol.as_bytes()), unit.map(str::as_bytes), "{symbol}");
        }
    }

    /// `Shop__Cart_12` was taken for a unit, and its value for the unit's block.
    #[test]
    fn data_symbols_of_flambda_are_split_behind_a_known_unit() {
        let units: [&[u8]; 3] = [b"Shop", b"Shop__Cart", b"Other"];
        for (symbol, split) in [
            ("camlShop", Some(("Shop", ""))),
            ("camlShop__Cart", Some(("Shop__Cart", ""))),
            ("camlShop__Cart_12", Some(("Shop", "Cart_12"))),
            ("camlShop__Pmakeblock_1251", Some(("Shop", "Pmakeblock_1251"))),
            ("camlShop__Cart__total_7", Some(("Shop__Cart", "total_7"))),
            ("camlShop.total_7_closure", Some(("Shop", "total_7_closure"))),
            ("camlShopping__total_7", None),
            ("caml_globals", None),
            ("", None),
        ] {
            let found = split_data_symbol(symbol.as_bytes(), |unit| units.contains(&unit));
            let split = split.map(|(unit, value)| (unit.as_bytes(), value.as_bytes()));
            assert_eq!(found, split, "{symbol}");
        }
    }

    #[test]
    fn values_are_named_with_and_without_their_stamp() {
        for (value, without, with) in
            [("table_12", "table", "table_12"), ("$3d$3d_7", "==", "==_7"), ("1", "1", "1")]
        {
            let mut out = [0; 64];
            assert_eq!(super::value(value.as_bytes(), false, &mut out), without.as_bytes());
            assert_eq!(super::value(value.as_bytes(), true, &mut out), with.as_bytes());
        }
    }

    #[test]
    fn anonymous_functions_have_their_stamp() {
        for (linked, stamp, known) in [
            ("camlShop__fun_1042", false, Some("Shop.(fun)")),
            ("camlShop__fun_1042", true, Some("Shop.(fun 1042)")),
            ("camlShop.fun_7_code", true, Some("Shop.(fun 7)")),
            ("camlShop__on_order_12", true, Some("Shop.on_order")),
            ("camlShop.anon_fn_7", true, Some("Shop.(fun 7)")),
            ("camlShop.anon_fn$5bshop.ml$3a16$2c24$2d$2d40$5d_7", false, Some("Shop.(fun)")),
            ("caml_curry2", true, None),
        ] {
            let mut out = [0; 64];
            let name = function(linked.as_bytes(), stamp, &mut out);
            assert_eq!(name, known.map(str::as_bytes), "{linked}");
        }
    }

    #[test]
    fn anonymous_functions_symbols_have_their_place() {
        let mut into = [0; 64];
        let symbol = b"camlShop.anon_fn$5bshop.ml$3a16$2c24$2d$2d40$5d_7";
        let place = AnonymousPlace { file: b"shop.ml", line: 16, column: 24 };
        assert_eq!(anonymous_place(symbol, &mut into), Some(place));
        for symbol in
            ["camlShop.anon_fn_7", "camlShop.anon_fn$5bshop.ml$5d_7", "camlShop__fun_7", ""]
        {
            assert_eq!(anonymous_place(symbol.as_bytes(), &mut into), None, "{symbol}");
        }
    }

    #[test]
    fn only_flambda_has_symbols_of_its_own() {
        for symbol in ["camlShop.anon_fn_7", "camlShop__anon_fn$5bshop$2eml$3a16$2c24$2d$2d40$5d_7"]
        {
            assert!(is_flambda(symbol.as_bytes()), "{symbol}");
        }
        for symbol in ["camlShop__fun_7", "camlShop__anon_fn_with_loc_7", "anon_fn_7", ""] {
            assert!(!is_flambda(symbol.as_bytes()), "{symbol}");
        }
    }

    #[test]
    fn partial_applications_are_known_by_their_symbols() {
        for symbol in ["caml_curry2", "caml_curry12_3", "caml_curry3_1_app"] {
            assert!(is_partial_application(symbol.as_bytes()), "{symbol}");
        }
        for symbol in ["caml_curry", "caml_curryx", "caml_apply2", "camlShop__curry2_1", ""] {
            assert!(!is_partial_application(symbol.as_bytes()), "{symbol}");
        }
    }

    #[test]
    fn other_symbols_are_left_alone() {
        for linked in ["caml_alloc_small", "caml", "main", "", "camlfoo", "caml\u{e9}"] {
            assert_eq!(symbol(linked), None, "{linked}");
        }
    }

    #[test]
    fn c_functions_are_not_of_the_compiler() {
        for symbol in
            ["unix_setsid", "caml_compare", "caml_condition_wait", "Base_internalhash_fold_int"]
        {
            assert!(
                is_c_function(symbol.as_bytes()) && !is_code_support(symbol.as_bytes()),
                "{symbol}"
            );
        }
        for symbol in ["camlShop__add_12", "caml_apply3", "caml_curry2_1", "caml_tuplify2"] {
            assert!(!is_c_function(symbol.as_bytes()), "{symbol}");
        }
        assert!(is_code_support(b"caml_int64_ops") && is_c_call(b"caml_c_call_stack_args"));
    }

    #[test]
    fn stamps_are_the_last_number() {
        let of = |symbol: &str| stamp(symbol.as_bytes());
        assert_eq!(of("camlShop__add_12"), Some(12));
        assert_eq!(of("camlShop.anon_fn_345_code"), Some(345));
        assert_eq!(of("camlShop__entry"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            crate::fuzz::names(&bytes);
            crate::fuzz::names(&[b"camlA", bytes.as_slice()].concat());
        }

        #[test]
        fn any_text_of_symbols_is_survived(text in "caml[A-Z][A-Za-z0-9_$.]{0,40}") {
            crate::fuzz::names(text.as_bytes());
        }

        /// What does not fit is cut, not changed.
        #[test]
        fn less_room_gives_a_prefix(text in "[A-Z][A-Za-z0-9_$.]{0,40}", room in 0..40usize) {
            let (mut large, mut small) = ([0; 64], vec![0; room]);
            let whole = write_name(text.as_bytes(), &mut large);
            let part = write_name(text.as_bytes(), &mut small);
            prop_assert!(whole.starts_with(part));
            prop_assert_eq!(part.len(), whole.len().min(room));
        }

        /// Mangling a path of plain names and undoing it gives the path.
        #[test]
        fn what_was_mangled_comes_back(
            unit in "[A-Z][a-z]{1,5}(__[A-Z][a-z]{1,5}){0,2}", value in "[a-z][a-z0-9']{0,5}", stamp in 0..9999u32,
        ) {
            let mangled = value.replace('\'', "$27");
            let path = format!("{}.{value}", unit.replace("__", "."));
            prop_assert_eq!(symbol(&format!("caml{unit}__{mangled}_{stamp}")), Some(path.clone()));
            prop_assert_eq!(symbol(&format!("caml{unit}.{mangled}_{stamp}")), Some(path));
        }
    }
}
