//! What is known of functions that the compiler made itself: `tests/programs/compiler_made.ml`.

use memtrail_heap::read::Function;
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each_build;
use memtrail_test_support::programs::{Program, build, build_as_plugin, strip, strip_file};
use memtrail_test_support::running::{Case, Recorded};

use crate::lines::{functions, record};

/// The functions of closures, by their names.
fn by_name(program: &Program) -> Vec<(String, Function)> {
    named_functions(&record(program))
}

fn named_functions(recorded: &Recorded) -> Vec<(String, Function)> {
    let all = functions(recorded).into_values();
    all.map(|one| (String::from_utf8_lossy(&one.name).into_owned(), one)).collect()
}

/// Those whose names begin so.
fn called<'f>(all: &'f [(String, Function)], start: &str) -> Vec<&'f Function> {
    let found: Vec<_> =
        all.iter().filter(|(name, _)| name.starts_with(start)).map(|(_, one)| one).collect();
    let names: Vec<_> = all.iter().map(|(name, _)| name).collect();
    assert!(!found.is_empty(), "{start} in {names:?}");
    found
}

fn are_in_the_lines_of_classes(all: &[(String, Function)]) {
    // With flambda, what makes objects of a class with parameters is at these.
    for (made, lines) in [
        ("shape.(object initializer", 12..=16),
        ("below.(object initializer", 36..=41),
        ("counter#(fun ", 4..=10),
        ("square#(fun ", 18..=24),
    ] {
        for function in called(all, &format!("Compiler_made.{made}")) {
            let between = function.between.unwrap_or_else(|| panic!("{function:?}"));
            let last = between.last.unwrap();
            assert!(lines.contains(&between.first) && lines.contains(&last), "{function:?}");
            assert!(function.is_of_class && function.line == 0, "{function:?}");
            assert!(function.file.ends_with(b"compiler_made.ml"), "{function:?}");
        }
    }
}

// They were called `Compiler_made.(fun 275)`, and had a file only.
on_each_build!(functions_of_a_class_are_in_its_lines, |compiler| {
    let program = strip(&build(&named(compiler), "compiler_made"));
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    are_in_the_lines_of_classes(&by_name(&program));
});

// Plugins take addresses from the dynamic linker's table, which was not followed: their names were `Compiler_made.(fun 500)`.
on_each_build!(functions_of_a_plugins_class_are_in_its_lines, |compiler| {
    let (host, plugin) = build_as_plugin(&named(compiler), "compiler_made");
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let plugin = strip_file(&plugin);
    let case = Case::new(&host, &[plugin.to_str().unwrap()]);
    let recorded = case.options(&["--snapshot", "exit"]).same();
    are_in_the_lines_of_classes(&named_functions(&recorded));
});

on_each_build!(functions_around_externals_have_the_name_of_these, |compiler| {
    let program = strip(&build(&named(compiler), "compiler_made"));
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let all = by_name(&program);
    for external in ["caml_ml_seek_in", "caml_ml_pos_in"] {
        called(&all, &format!("Stdlib.(external {external}"));
    }
});

// With flambda, the function that takes the tuple apart has no place.
on_each_build!(functions_of_tuples_have_their_line, |compiler| {
    let program = build(&named(compiler), "compiler_made");
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let all = by_name(&program);
    for (name, line) in [("Compiler_made.swap", 26), ("Compiler_made.first", 27)] {
        assert!(called(&all, name).iter().all(|one| one.line == line), "{all:?}");
    }
});

// The line of a method that has none was that of a function above, which was inlined into it.
on_each_build!(lines_of_inlined_functions_are_not_those_of_methods, |compiler| {
    let all = by_name(&build(&named(compiler), "compiler_made"));
    let methods = called(&all, "Compiler_made.below#last");
    assert!(methods.iter().all(|one| (36..=41).contains(&one.line)), "{methods:?}");
});
