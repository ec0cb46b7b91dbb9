//! What finalisers capture, against what the collector frees.

use std::process::Command;

use memtrail_test_support::running::Case;

use crate::{answer, compilers, last_snapshot, programs};

/// The fields of the program's module, and cells of the list that each one's finaliser captures.
const FIELDS: [(u64, u64); 5] = [(5, 1000), (6, 2000), (7, 4000), (8, 8000), (9, 0)];

fn what_finalisers_capture_is_freed_with_their_values(compiler: &str) {
    let program = programs::build(&compilers::named(compiler), "heap_finalised");
    let options = ["--rate", "1e-4", "--snapshot", "exit"];
    let recorded = Case::new(&program, &[]).options(&options).same();
    let file = last_snapshot(&recorded.recording);
    let roots = answer("roots", &file, &["--retained", "--limit", "0"]);
    let rows = roots["rows"].as_array().unwrap();
    for (number, captured) in FIELDS {
        let output = Command::new(&program.path).arg(number.to_string()).output().unwrap();
        let freed: u64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        assert!(freed >= 3 * captured, "field {number}: {freed} words");
        let path = serde_json::json!(["Heap_finalised", format!("field {number}")]);
        let row = rows.iter().find(|row| row["path"] == path);
        let retained = row.map_or(0, |row| row["retained"].as_u64().unwrap());
        // The reference itself stays: a field and its header.
        assert_eq!(retained, (freed + 2) * 8, "field {number}");
    }
    // What keeps its own value is the finaliser's, too.
    let jointly_retained = roots["jointly_retained"].as_u64().unwrap();
    assert!((16_000 * 24..16_100 * 24).contains(&jointly_retained), "{jointly_retained}");
}

#[test]
fn what_finalisers_capture_is_freed_with_their_values_on_4() {
    what_finalisers_capture_is_freed_with_their_values("system");
}

#[test]
fn what_finalisers_capture_is_freed_with_their_values_on_4_14() {
    what_finalisers_capture_is_freed_with_their_values("ocaml-4.14.1000");
}

#[test]
fn what_finalisers_capture_is_freed_with_their_values_on_5() {
    what_finalisers_capture_is_freed_with_their_values("ocaml-5.3.0");
}

/// Each value that waits for its finaliser was an alias of all others with the same function: 100,000 took more memory than
/// there was.
#[test]
fn finalisers_with_one_function_are_no_aliases() {
    let program = programs::build(&compilers::named("system"), "finalised_pool");
    let options = ["--rate", "1e-4", "--snapshot", "exit"];
    let recorded = Case::new(&program, &["5000"]).options(&options).same();
    let roots = answer("roots", &last_snapshot(&recorded.recording), &["--limit", "0"]);
    let rows = roots["rows"].as_array().unwrap();
    let of_finalisers = rows.iter().filter(|row| row["kind"] == "finaliser");
    let aliases = of_finalisers.map(|row| row["aliases"].as_array().map_or(0, Vec::len));
    let aliases: Vec<usize> = aliases.collect();
    assert!(aliases.len() > 100, "{} values wait", aliases.len());
    assert_eq!(aliases.iter().sum::<usize>(), 0);
}
