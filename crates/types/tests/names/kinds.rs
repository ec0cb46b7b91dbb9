//! Each kind of type as a term.

use std::collections::HashSet;
use std::fmt::Write as _;

use memtrail_test_support::{compilers, on_each};
use memtrail_types::term::{Content, Definition, LabelledField, TermId, TypeTable};
use memtrail_types::{SlotKind, Types};

use crate::names::files::Built;
use crate::names::unit;

const PROGRAM: &str = include_str!("kinds.ml");
const EXPECTED: &str = include_str!("kinds.txt");

fn fields(table: &TypeTable, fields: &[LabelledField]) -> String {
    let texts = fields.iter().map(|field| match field.name.as_str() {
        "" => table.text(field.ty),
        name => format!("{name}: {}", table.text(field.ty)),
    });
    texts.collect::<Vec<_>>().join("; ")
}

fn results(table: &TypeTable, result: Option<&[TermId]>) -> String {
    result.map_or_else(String::new, |result| {
        let texts: Vec<String> = result.iter().map(|&id| table.text(id)).collect();
        format!(" -> ({})", texts.join(", "))
    })
}

/// A declaration, written on a line.
fn declared(table: &TypeTable, name: &str) -> String {
    let mut found = table.declarations.iter().filter(|declaration| declaration.name == name);
    let declaration = found.next().unwrap_or_else(|| panic!("no type {name}"));
    assert!(found.next().is_none(), "several types {name}");
    let parameters: Vec<String> = declaration.parameters.iter().map(|&id| table.text(id)).collect();
    let mut text = format!("({}) {name} = ", parameters.join(", "));
    match &declaration.definition {
        Definition::Abstract => text.push_str("abstract"),
        Definition::Alias(id) => text.push_str(&table.text(*id)),
        Definition::Record { fields: all, is_floats } => {
            let _ = write!(
                text,
                "{{{}}}{}",
                fields(table, all),
                if *is_floats { " floats" } else { "" }
            );
        }
        Definition::Variant(constructors) => {
            for one in constructors {
                let tag = one.tag.map_or_else(|| "constant".into(), |tag| tag.to_string());
                let _ = write!(
                    text,
                    "| {} {tag} ({}){} ",
                    one.name,
                    fields(table, &one.arguments),
                    results(table, one.result.as_deref())
                );
            }
        }
        Definition::Unboxed(id) => {
            let _ = write!(text, "unboxed {}", table.text(*id));
        }
        Definition::Open => text.push_str(".."),
    }
    text
}

/// Variables and what they hold.
fn held(types: &Types, unit_name: &str) -> Vec<String> {
    let table = &types.table;
    let layout = unit(types, unit_name).layout.as_ref().expect("a layout");
    let slots = layout.exported.iter().chain(&layout.hidden);
    slots
        .map(|slot| {
            let content = match slot.content {
                Content::Unknown => "?".into(),
                Content::Value(id) => table.text(id),
                Content::Module(id) => {
                    let module = table.module(id).expect("a module");
                    format!("module {}", module.name)
                }
                Content::Extension(number) => {
                    let extension = &table.extensions[number as usize];
                    let of = table.declaration(extension.of).expect("a declaration");
                    format!(
                        "{} of {}: {}",
                        extension.name,
                        of.name,
                        fields(table, &extension.arguments)
                    )
                }
            };
            format!("{} : {content}", slot.variable())
        })
        .collect()
}

/// All variables and types of the unit, as `kinds.txt` has them.
fn check_kinds(name: &str) {
    let built = Built::of(name, &[("kinds.ml", PROGRAM)]);
    let types = built.types_with(&compilers::named(name).headers());
    let table = &types.table;
    let mut lines = held(&types, "Kinds");
    // From OCaml 5.1 on, included variables have two slots.
    let mut seen = HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    let mut names: Vec<&str> =
        table.declarations.iter().map(|declaration| declaration.name.as_str()).collect();
    names.retain(|name| name.contains("Kinds") && name.rsplit('.').next() != Some("key"));
    names.sort_unstable();
    lines.extend(names.into_iter().map(|name| declared(table, name)));
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    assert_eq!(lines, EXPECTED.lines().collect::<Vec<_>>());
    check_against_compiler(&built, &types);
}
on_each!(kinds, check_kinds);

/// What `ocamlopt -i` prints of values is the same, where it prints no other names for the same types.
fn check_against_compiler(built: &Built, types: &Types) {
    let printed = built.printed_interface("kinds.ml");
    let layout = unit(types, "Kinds").layout.as_ref().expect("a layout");
    let mut compared = 0;
    for line in printed.lines() {
        // Those of modules inside are indented.
        let Some((name, ty)) = line.strip_prefix("val ").and_then(|rest| rest.split_once(" : "))
        else {
            continue;
        };
        let slot = layout
            .exported
            .iter()
            .find(|slot| slot.kind == SlotKind::Value && slot.path == [name])
            .expect("a slot");
        let Content::Value(id) = slot.content else { panic!("{name} has no type") };
        let text = types.table.text(id).replace("Kinds.", "");
        if ["By_", "packed", "Made", "> as", "'a", "[>"].iter().any(|other| line.contains(other)) {
            continue;
        }
        assert_eq!(text, ty.replace("Stdlib.", ""), "{name}");
        compared += 1;
    }
    assert!(compared > 20, "{compared} of {printed}");
}

/// A module's block is what the interface exports of it; the implementation gives the types.
fn check_exported_module(name: &str) {
    let interface = "type t\nmodule M : sig val b : t val a : t list end\n";
    let text =
        "type t = string\nmodule M = struct let a = [ \"a\" ] let hidden = 1 let b = \"b\" end\n";
    let built = Built::of(name, &[("lib.mli", interface), ("lib.ml", text)]);
    let types = built.types_with(&compilers::named(name).headers());
    let expected = ["M : module Lib.M", "M.a : string list", "M.hidden : int", "M.b : string"];
    assert_eq!(held(&types, "Lib"), expected);
    let module = types.table.modules.iter().find(|module| module.name == "Lib.M").expect("Lib.M");
    let slots: Vec<String> = module
        .slots
        .iter()
        .map(|slot| match slot.content {
            Content::Value(id) => format!("{} : {}", slot.variable(), types.table.text(id)),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(slots, ["b : string", "a : string list"]);
}
on_each!(exported_module, check_exported_module);
