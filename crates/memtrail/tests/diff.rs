//! `memtrail diff` from outside: what it lists, and what it does not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_with_packages};
use memtrail_test_support::running::Case;
use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures").join(name)
}

fn memtrail(arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(arguments).args(paths).env_remove("COLUMNS").stdin(Stdio::null());
    command.output().unwrap()
}

fn answer(before: &Path, after: &Path, more: &[&str]) -> Value {
    let arguments: Vec<&str> = ["diff", "--json"].into_iter().chain(more.iter().copied()).collect();
    let output = memtrail(&arguments, &[before, after]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Status and name of the rows of a table.
fn rows<'a>(answer: &'a Value, table: &str) -> Vec<(&'a str, &'a str)> {
    let rows = answer[table]["rows"].as_array().unwrap();
    rows.iter()
        .map(|row| (row["status"].as_str().unwrap(), row["name"].as_str().unwrap()))
        .collect()
}

#[test]
fn samples_of_one_run_do_not_differ() {
    let folder = tempfile::tempdir().unwrap();
    let sample = |seed: u32| {
        let path = folder.path().join(format!("{seed}.ctf"));
        let seed = seed.to_string();
        let output = memtrail(
            &["trace", "subsample", "--seed", &seed],
            &[&fixture("ocamlopt-upstream.ctf"), &path, Path::new("2")],
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path
    };
    for pair in 0..20 {
        let (before, after) = (sample(2 * pair), sample(2 * pair + 1));
        for by in ["function", "site"] {
            let answer = answer(&before, &after, &["--by", by]);
            for table in ["live_end", "live_peak", "allocated"] {
                assert_eq!(rows(&answer, table), [], "{by} of {table}, pair {pair}");
                assert!(answer[table]["same"].as_u64().unwrap() > 10, "{by} of {table}");
            }
        }
    }
}

#[test]
fn another_program_is_new_and_the_first_is_gone() {
    let answer = answer(&fixture("lists_and_sets-v1.ctf"), &fixture("cache-v2.ctf"), &[]);
    let rows = rows(&answer, "allocated");
    assert!(rows.contains(&("new", "Stdlib.Queue.add")), "{rows:?}");
    assert!(rows.iter().any(|(status, _)| *status == "gone"), "{rows:?}");
    assert_eq!(answer["heap"], Value::Null);
    let text = memtrail(&["diff"], &[&fixture("lists_and_sets-v1.ctf"), &fixture("cache-v2.ctf")]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("heaps are not compared: "), "{text:?}");
}

/// A run that does the same four times allocates more, of the same.
fn grows(compiler: &str) {
    let program = build(&named(compiler), "churn");
    let run = |rounds: &str| Case::new(&program, &[rounds]).options(&["--rate", "1e-3"]).recorded();
    let (short, long) = (run("1"), run("4"));
    let grown = answer(&short.recording, &long.recording, &[]);
    let ours = |table: &Value| -> Vec<(String, String)> {
        let rows = rows(table, "allocated").into_iter();
        let ours = rows.filter(|(_, name)| name.contains("Churn"));
        ours.map(|(status, name)| (status.to_owned(), name.to_owned())).collect()
    };
    let upto = ours(&grown).into_iter().find(|(_, name)| name.ends_with("Churn.upto"));
    assert_eq!(upto.expect("the function that allocates most").0, "grown", "{grown:#}");
    assert_eq!(grown["allocated"]["status"], "grown");
    let share = answer(&short.recording, &long.recording, &["--normalise", "allocated"]);
    assert_eq!(ours(&share), [], "{share:#}");
}
on_each!(what_a_longer_run_allocates_has_grown_and_its_share_has_not, grows);

#[test]
fn what_cannot_be_compared_is_refused() {
    let cache = fixture("cache-v2.ctf");
    let missing = memtrail(&["diff"], &[&cache, Path::new("no-such.ctf")]);
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no-such.ctf"));
    let filter = memtrail(&["diff", "--filter", "live:never"], &[&cache, &cache]);
    assert_eq!(filter.status.code(), Some(2));
}

/// Fields of the same number are other variables in another build, and were compared with each other.
#[test]
fn variables_of_another_build_are_compared_by_name() {
    let record = |name: &str| {
        let program = build_with_packages(name, "unix");
        Case::new(&program, &[]).options(&["--snapshot", "exit", "--rate", "1e-3"]).recorded()
    };
    let (before, after) = (record("version1"), record("version2"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(["diff", "--json"]).args([&before.recording, &after.recording]);
    let output = command.env_remove("MEMTRAIL_TYPES").output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let owners = answer["heap"]["owners"].as_array().unwrap();
    // The module has the name of its file, so it was renamed.
    let handlers = &owners[0];
    assert_eq!(handlers["name"], "Version2.Events.handlers", "{owners:#?}");
    assert_eq!(handlers["renamed_from"], "Version1.Events.handlers");
    let [from, to] = [0, 1].map(|side| handlers["bytes"][side].as_f64().unwrap());
    assert!((to / from - 5.0 / 6.0).abs() < 0.01, "{from} {to}");
    // The table did not change.
    let large = owners.iter().filter(|row| {
        let bytes = |side: usize| row["bytes"][side].as_u64().unwrap();
        bytes(0).abs_diff(bytes(1)) > 1000
    });
    assert_eq!(large.count(), 1, "{owners:#?}");
    // Functions whose lines moved are the same.
    let allocated = answer["allocated"]["rows"].as_array().unwrap();
    assert!(allocated.iter().all(|row| row["status"] != "new"), "{allocated:#?}");
    let text = memtrail(&["diff"], &[&before.recording, &after.recording]);
    let text = String::from_utf8(text.stdout).unwrap();
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    assert!(place("heap snapshots") < place("allocations, estimated"), "{text}");
    assert!(place("  owner") < place("  kind"), "{text}");
}
