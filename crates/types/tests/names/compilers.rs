//! Each compiler is an OCaml program with its `.cmt` files installed.

use std::collections::BTreeMap;

use memtrail_test_support::{compilers, on_each};
use memtrail_types::term::{Content, Term};
use memtrail_types::{Evidence, SlotKind, Types};

use crate::names::{found, on_path};

/// Every field of every unit has a name, and the program confirms nearly every implementation.
fn check_compiler_itself(name: &str) {
    let compiler = compilers::named(name);
    let headers = compiler.headers();
    let ocamlopt = match name {
        "system" => on_path("ocamlopt"),
        _ => compiler.ocamlopt.clone(),
    };
    // An unpacked compiler is a script that starts the program with its own libraries.
    let beside = headers.ancestors().map(|folder| folder.join("bin/ocamlopt.opt"));
    let program = beside.into_iter().find(|path| path.exists()).expect("the compiler's program");
    let version = format!("{}.{}", compiler.version.0, compiler.version.1);
    let types = found(&program, &[&headers], &ocamlopt, &version);
    assert!(types.compiler.starts_with(&version), "{}", types.compiler);
    let mut evidence = BTreeMap::new();
    let (mut named, mut fields) = (0, 0);
    for unit in &types.units {
        named += unit.named();
        fields += unit.fields.unwrap_or(0);
        assert_eq!(unit.named(), unit.fields.unwrap_or(0), "{}: {:?}", unit.name, unit.problems);
        if let Some(layout) = &unit.layout {
            *evidence.entry(layout.evidence.code()).or_insert(0) += 1;
        }
    }
    println!("{named} of {fields} fields in {} units; evidence {evidence:?}", types.units.len());
    assert!(fields > 10_000, "{fields}");
    check_terms(&types);
    let weak = evidence.get(&Evidence::Interface.code()).copied().unwrap_or(0);
    assert!(weak * 20 < types.units.len(), "{evidence:?}");
}

/// Every value has a type, and every path in a type leads to a declaration.
fn check_terms(types: &Types) {
    let table = &types.table;
    let mut values = 0;
    for unit in &types.units {
        let slots =
            unit.layout.iter().flat_map(|layout| layout.exported.iter().chain(&layout.hidden));
        for slot in slots.filter(|slot| slot.kind == SlotKind::Value) {
            let Content::Value(id) = slot.content else {
                panic!("{}.{} has no type", unit.name, slot.variable());
            };
            assert!(
                !matches!(table.term(id), Some(Term::Unknown(_))),
                "{}.{}: {}",
                unit.name,
                slot.variable(),
                table.text(id)
            );
            values += 1;
        }
    }
    let reasons: Vec<&str> = table
        .terms
        .iter()
        .filter_map(|term| match term {
            Term::Unknown(reason) => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    println!(
        "{values} values; {} terms, {} declarations, {} modules, {} extensions, {} functions; \
         unknown: {reasons:?}",
        table.terms.len(),
        table.declarations.len(),
        table.modules.len(),
        table.extensions.len(),
        table.functions.len(),
    );
    let known =
        ["existential type", "local type", "type variable", "type of a functor's parameter"];
    for reason in reasons {
        assert!(known.contains(&reason), "{reason}");
    }
}

on_each!(compiler_itself, check_compiler_itself);
