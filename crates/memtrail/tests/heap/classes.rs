//! Objects are named by their class: `tests/programs/classes.ml`.

use std::collections::BTreeMap;

use memtrail_test_support::programs::{self, Program};
use memtrail_test_support::{compilers, on_each};

use crate::{Case, answer};

/// Names of objects with how many there are.
fn objects(program: &Program) -> BTreeMap<String, u64> {
    let recorded = Case::new(program, &[]).options(&["--snapshot", "exit"]).same();
    let histogram = answer("histogram", &recorded.recording, &["--limit", "0"]);
    let rows = histogram["rows"].as_array().unwrap().iter();
    let row =
        |row: &serde_json::Value| Some((row["kind"].as_str()?.to_owned(), row["blocks"].as_u64()?));
    rows.filter_map(row)
        .filter(|(kind, _)| kind.trim_start_matches("~ ").starts_with("object"))
        .collect()
}

fn expected(others: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let classes = [
        ("counter", 10),
        ("named", 11),
        ("silent", 12),
        ("square", 13),
        ("item", 29),
        ("inner", 17),
    ];
    let classes =
        classes.map(|(class, count)| (format!("~ object of class Classes.{class}"), count));
    let others = others.iter().map(|(name, count)| ((*name).to_owned(), *count));
    classes.into_iter().chain(others).collect()
}

on_each!(objects_are_named_by_their_class_or_the_lines_of_their_methods, |compiler| {
    let program = programs::build(&compilers::named(compiler), "classes");
    // What only reads a value is a function of the standard library.
    let others = [
        ("~ object with methods of classes.ml:43", 16),
        ("~ object with methods of classes.ml:48-49", 1),
    ];
    assert_eq!(objects(&program), expected(&others));
});

// Without `.cmt` files they were `Classes / field 0` and so on.
on_each!(variables_that_are_classes_say_which, |compiler| {
    let program = programs::build(&compilers::named(compiler), "classes");
    let case = Case::new(&program, &[]).options(&["--snapshot", "exit"]);
    let roots = answer("roots", &case.same().recording, &["--limit", "0"]);
    let rows = roots["rows"].as_array().unwrap().iter();
    let holds: Vec<_> = rows.filter_map(|row| row["holds"].as_str()).collect();
    for class in ["counter", "named", "square"] {
        let text = format!("class Classes.{class}");
        assert!(holds.contains(&text.as_str()), "{text} in {holds:?}");
    }
    let closures = holds.iter().filter(|text| text.starts_with("closure Classes."));
    assert!(closures.count() > 0, "{holds:?}");
});
