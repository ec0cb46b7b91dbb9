//! What the names in a trace say: modules, and names as people write them.
//!
//! The compiler names a function by the path to its definition (`Scoped_location` in
//! `lambda/debuginfo.ml`, OCaml 4.11 and later):
//!
//! | name | is |
//! |---|---|
//! | `Stdlib__List.map` | `map` in the compilation unit `Stdlib__List` |
//! | `Btype.For_copy.with_scope` | in a submodule; a functor's body looks the same |
//! | `Cache.remember.(fun)` | an anonymous function inside `remember` |
//! | `Cache.fetch.retry` | a local function |
//! | `Asmgen.(++)` | an operator; the dots inside its parentheses separate nothing |
//! | `Gui.window#resize` | a method |
//! | `Dune__exe__Main.entry` | the toplevel of `main.ml` in an executable built by dune |
//! | `caml_alloc_string` | not from OCaml |
//!
//! **Module** of a function: the leading components that begin with a capital letter (they may be
//! all there are). A function that has none, has no module.
//!
//! **As people write it**: two underscores before a capital letter, which libraries are mangled
//! with, are a dot again (`Stdlib.List.map`), and `Dune.exe` goes.

/// The module of a function, as the trace spells it; empty if it has none.
///
/// ```
/// use memtrail_profile::names::module;
/// assert_eq!(module("Btype.For_copy.with_scope.(fun)"), "Btype.For_copy");
/// assert_eq!(module("caml_alloc_string"), "");
/// ```
pub fn module(function: &str) -> &str {
    let mut end = 0;
    loop {
        let rest = &function[end..];
        let component = rest.strip_prefix('.').unwrap_or(rest);
        if !component.starts_with(|c: char| c.is_uppercase()) {
            return &function[..end];
        }
        let start = end + (rest.len() - component.len());
        let len = component.find(|c: char| !is_identifier(c)).unwrap_or(component.len());
        // `Gui.Window#resize` names a class, `Weird[1]` something else: no modules.
        if !matches!(component.as_bytes().get(len), None | Some(b'.')) {
            return &function[..end];
        }
        end = start + len;
    }
}

/// A function's or module's name as people write it.
///
/// ```
/// use memtrail_profile::names::readable;
/// assert_eq!(readable("Stdlib__List.map"), "Stdlib.List.map");
/// assert_eq!(readable("Dune__exe__Main.serve.(fun)"), "Main.serve.(fun)");
/// ```
pub fn readable(name: &str) -> String {
    let name = match name.strip_prefix("Dune__exe__") {
        Some(rest) if rest.starts_with(|c: char| c.is_uppercase()) => rest,
        _ => name,
    };
    // Only a compilation unit is mangled, and it comes first.
    let unit = name.find(|c: char| !is_identifier(c)).unwrap_or(name.len());
    let (unit, rest) = name.split_at(unit);
    let mut readable = String::with_capacity(name.len());
    if unit.starts_with(|c: char| c.is_uppercase()) {
        let mut parts = unit.split("__").peekable();
        while let Some(part) = parts.next() {
            readable.push_str(part);
            if let Some(next) = parts.peek() {
                let dot = !part.is_empty() && next.starts_with(|c: char| c.is_uppercase());
                readable.push_str(if dot { "." } else { "__" });
            }
        }
    } else {
        readable.push_str(unit);
    }
    readable.push_str(rest);
    readable
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn modules_end_where_values_begin() {
        for (function, expected) in [
            ("Stdlib__List.map", "Stdlib__List"),
            ("Stdlib.List.map", "Stdlib.List"),
            ("Cache.remember.(fun)", "Cache"),
            ("Cache.(fun)", "Cache"),
            ("Asmgen.(++)", "Asmgen"),
            ("Lwt.Infix.(>>=)", "Lwt.Infix"),
            ("Reader.( let* ).(fun)", "Reader"),
            ("Odd.(.%{}).Sub", "Odd"),
            ("CamlinternalMenhirLib.Engine.Make.run", "CamlinternalMenhirLib.Engine.Make"),
            ("Stdlib__Printf.ksprintf.k'", "Stdlib__Printf"),
            ("Gui.window#resize", "Gui"),
            ("Gui.Window#resize", "Gui"),
            ("Dune__exe__Main.entry", "Dune__exe__Main"),
            ("Élan.démarrer", "Élan"),
            ("Main", "Main"),
            ("caml_alloc_string", ""),
            ("", ""),
            (".", ""),
            ("Foo.", "Foo"),
            ("Foo..Bar", "Foo"),
        ] {
            assert_eq!(module(function), expected, "{function}");
        }
    }

    #[test]
    fn names_lose_their_mangling() {
        for (name, expected) in [
            ("Stdlib__List.map", "Stdlib.List.map"),
            ("Dune__exe__Cache.remember.(fun)", "Cache.remember.(fun)"),
            ("Dune__exe.main", "Dune__exe.main"),
            ("Lwt__Unix__Main.run__Now", "Lwt.Unix.Main.run__Now"),
            ("Odd__name.f", "Odd__name.f"),
            ("__Foo.f", "__Foo.f"),
            ("caml__Alloc", "caml__Alloc"),
            ("Foo__", "Foo__"),
            ("", ""),
        ] {
            assert_eq!(readable(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_has_a_module_and_a_spelling(name in "[A-Za-zé_.#()' ]{0,20}") {
            prop_assert!(name.starts_with(module(&name)));
            prop_assert!(readable(&name).len() <= name.len());
            prop_assert_eq!(module(module(&name)), module(&name));
        }
    }
}
