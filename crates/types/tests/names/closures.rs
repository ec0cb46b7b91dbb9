//! Free variables of functions, in the order in which closures have them.

use std::process::Command;

use memtrail_test_support::{compilers, on_each};

use crate::names::files::Built;

/// A program prints what its closures hold; each string there is the name of its variable.
fn check_closures(name: &str) {
    let built = Built::of(name, &[("closures.ml", include_str!("closures.ml"))]);
    let types = built.types_with(&compilers::named(name).headers());
    let output = Command::new(built.path("main")).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.lines().count() >= 9, "{printed}");
    for line in printed.lines() {
        let mut words = line.split(' ');
        let (function, size) = (words.next().unwrap(), words.next().unwrap());
        let size: usize = size.parse().unwrap();
        let held: Vec<&str> = words.collect();
        let found: Vec<_> = types
            .table
            .functions
            .iter()
            .filter(|row| {
                let symbol = row.symbol.strip_prefix("Closures").unwrap_or("");
                let symbol = symbol.trim_start_matches(['_', '.']);
                symbol.rsplit_once('_').is_some_and(|(name, _)| name == function)
            })
            .collect();
        let [found] = found.as_slice() else { panic!("{function}: {found:?}") };
        let start = found.words_before as usize;
        assert_eq!(start + found.environment.len(), size, "{line}: {found:?}");
        for (variable, held) in found.environment.iter().zip(held) {
            let Some(ty) = variable.ty else { continue };
            match types.table.text(ty).as_str() {
                // From OCaml 5.5 on, what is compared with has the type that the module's function takes.
                "string" | "string ref" | "Closures.Equality.t" => {
                    assert_eq!(variable.name, held, "{line}: {found:?}");
                }
                arrow if arrow.contains("->") => {
                    assert_eq!(held, "(function)", "{line}: {found:?}");
                }
                "(module Closures.Equality)" => assert_eq!(held, "(other)", "{line}: {found:?}"),
                other => panic!("{line}: {} : {other}", variable.name),
            }
        }
    }
}
on_each!(closures, check_closures);
