//! Programs of `tests/leaks`, each with the expected answer in its header: a fast part of them. `leaks` and `check` agree.

use std::path::Path;
use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::{build_with, build_with_packages};
use memtrail_test_support::running::Case;
use serde_json::Value;

use crate::suspects;

/// Exit code of `memtrail check --no-leak` on a recording.
fn check(recording: &Path, more: &[&str]) -> i32 {
    let mut command = with_names("check");
    command.args(["--no-leak", "--recording"]).arg(recording).args(more);
    command.output().unwrap().status.code().unwrap()
}

/// A command that reads the names of variables; in other tests they are off.
fn with_names(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env_remove("MEMTRAIL_TYPES").env_remove("COLUMNS").arg(name);
    command
}

/// Output of `leaks` as JSON.
fn json(recording: &Path, option: &str) -> Value {
    let output = with_names("leaks").arg(recording).arg(option).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What `leaks` says of a program, with a snapshot at each major collection; `check` says the same.
fn found(name: &str, arguments: &[&str]) -> Value {
    let program = build_with_packages(name, "unix");
    let case = Case::new(&program, arguments).options(&["--snapshot", "every-major"]);
    let run = case.recorded();
    let found = json(&run.recording, "--json");
    let bytes = |field: &str| found[field].as_f64().unwrap();
    // 6: a tenth of the heap or more cannot be judged.
    let code = match suspects(&found).is_empty() {
        false => 4,
        true if bytes("unjudged") >= 0.1 * bytes("alive") => 6,
        true => 0,
    };
    assert_eq!(check(&run.recording, &[]), code, "{found:#}");
    let evidence = json(&run.recording, "--evidence");
    assert!(!evidence["owners"].as_array().unwrap().is_empty(), "{evidence}");
    found
}

/// The only suspect is this owner.
fn leaks_only(found: &Value, owner: &str) {
    let [first] = &suspects(found)[..] else { panic!("{found:#}") };
    assert!(first["owner"].as_str().unwrap().starts_with(owner), "{found:#}");
}

/// The table is the suspect, and its strings were allocated where they are made: in half of the runs the caller of
/// `Hashtbl.replace`, which allocates the cells, was named.
fn resized_table_leaks(additions: &str) {
    let found = found("resize", &[additions]);
    leaks_only(&found, "Resize.seen");
    let site = &suspects(&found)[0]["allocated"][0]["function"];
    assert_eq!(site, "Resize.remember", "{found:#}");
}

/// A snapshot within `Hashtbl.resize` found the table empty, and it was missed.
#[test]
fn a_table_that_is_being_resized_is_a_suspect() {
    resized_table_leaks("270000");
}

#[test]
fn a_table_that_was_resized_late_is_a_suspect() {
    resized_table_leaks("290000");
}

/// "Does not grow steadily": bucket arrays that resizing freed spoke for it.
#[test]
fn a_table_that_grew_in_each_snapshot_is_a_suspect() {
    let whole = found("grows", &["24"]);
    leaks_only(&whole, "Grows.table");
    let said = suspects(&whole)[0]["descriptions"].to_string();
    assert!(said.contains("entries") && !said.contains(" buckets: "), "{said}");
    // A run of 7 ms may have one snapshot and few samples: then it is undecided, and never cleared.
    let short = found("grows", &["8"]);
    if suspects(&short).is_empty() {
        assert_eq!(short["cleared"][0]["class"], "undecided", "{short:#}");
    } else {
        leaks_only(&short, "Grows.table");
    }
}

/// It was "filled early", as the program was idle for most of the time.
#[test]
fn a_leak_before_idle_time_is_a_suspect() {
    let found = found("idle_load", &["2"]);
    leaks_only(&found, "Idle_load.table");
    // `handle` calls `Hashtbl.replace` last, so its frame may be gone: the cell is added at its caller's line.
    let added = suspects(&found)[0]["added"]["function"].as_str().unwrap();
    assert!(["Idle_load.handle", "Idle_load"].contains(&added), "{found:#}");
}

#[test]
fn a_leak_before_a_ticker_is_a_suspect() {
    // Its load takes 50 ms otherwise: on a fast machine it was over before the first snapshot was written.
    leaks_only(&found("ticker", &["3", "slowly"]), "Ticker.handlers");
}

#[test]
fn a_cache_with_a_bound_comes_and_goes() {
    let found = found("twin_lru", &[]);
    assert!(suspects(&found).is_empty(), "{found:#}");
}

#[test]
fn a_cache_that_is_filled_at_the_start_is_filled_once() {
    let found = found("twin_warm", &[]);
    assert!(suspects(&found).is_empty(), "{found:#}");
    // The only snapshot may be from within the filling, if its writer takes long: then it ended after that.
    let is_early = found["snapshots"] == 1;
    let class = &found["cleared"][0]["class"];
    assert!(class == "filled_once" || (is_early && class == "ended"), "{found:#}");
}

/// A key that is added again hides its earlier entries, which stay.
#[test]
fn entries_that_hide_each_other_are_named() {
    let found = found("hashtbl_shadow", &["60000"]);
    leaks_only(&found, "Hashtbl_shadow.Presence.last_seen");
    let said = suspects(&found)[0]["descriptions"].to_string();
    // 200 keys; two of them may share a bucket of a table that is not yet as large as at the end.
    let (_, buckets) = said.split_once(" entries are in ").expect(&said);
    let (count, rest) = buckets.split_once(' ').expect(&said);
    assert!((190..=200).contains(&count.parse().expect(&said)), "{said}");
    assert!(rest.starts_with("buckets: keys or their hashes repeat"), "{said}");
}

/// One caller was reported as if it were all of them.
#[test]
fn callers_of_a_site_have_shares() {
    let found = found("callers", &[]);
    leaks_only(&found, "Callers.sessions");
    let callers = suspects(&found)[0]["callers"].as_array().unwrap();
    let names: Vec<&str> =
        callers.iter().map(|caller| caller["place"]["function"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 3, "{found:#}");
    assert_eq!(names[0], "Callers.index", "{found:#}");
    let shares: f64 = callers.iter().map(|caller| caller["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{found:#}");
    let description = suspects(&found)[0]["descriptions"][0].as_str().unwrap();
    assert!(description.contains("called by Callers.index"), "{description}");
}

/// `check` passed, and nobody said that 92 % of resident memory was not recorded.
#[test]
fn memory_of_stubs_that_was_not_recorded_is_named_and_not_cleared() {
    let found = |name: &str| {
        let stubs = format!("{name}_stubs.c");
        let program = build_with(&named("system"), name, &[&stubs]);
        let case = Case::new(&program, &["100000"]).options(&["--snapshot", "exit"]);
        let run = case.recorded();
        (json(&run.recording, "--json"), check(&run.recording, &[]))
    };
    let (leak, code) = found("stub_leak");
    let first = leak["summary"][0].as_str().unwrap();
    assert!(first.contains("memtrail run --native=also records it"), "{leak:#}");
    assert!(leak["unrecorded"]["share"].as_f64().unwrap() > 0.8, "{leak:#}");
    assert_eq!(code, 6, "{leak:#}");
    let (sound, code) = found("stub_leak_fixed");
    assert!(sound["unrecorded"].is_null(), "{sound:#}");
    assert_ne!(code, 4, "{sound:#}");
}

/// A local variable had the table. At the exit its function had returned, and nothing grew: `check` passed.
#[test]
fn a_table_of_a_function_that_has_returned_is_not_cleared() {
    let program = build_with_packages("local_leak", "unix");
    let judged = |argument: &str, mode: &str| {
        let modes = mode.split('+').flat_map(|mode| ["--snapshot", mode]);
        let options: Vec<&str> = modes.chain(["--rate", "1e-3"]).collect();
        let run = Case::new(&program, &[argument, "200000"]).options(&options).recorded();
        (json(&run.recording, "--json"), check(&run.recording, &[]))
    };
    let (found, code) = judged("leak", "exit");
    assert!(suspects(&found).is_empty(), "{found:#}");
    assert!(found["unowned"].as_u64().unwrap() > 5_000_000, "{found:#}");
    assert_eq!(code, 6, "{found:#}");
    // Snapshots before the exit show what had it.
    let (found, code) = judged("leak", "every-major+exit");
    leaks_only(&found, "Local_leak.serve");
    assert!(found["teardown"]["freed"].as_u64().unwrap() > 5_000_000, "{found:#}");
    assert_eq!(code, 4, "{found:#}");
    let (found, code) = judged("sound", "exit");
    assert_eq!((found["unowned"].as_u64(), code), (Some(0), 0), "{found:#}");
}

/// Known leaks fail no check; a pattern that matches nothing is listed.
#[test]
fn known_leaks_are_not_counted() {
    let program = build_with_packages("grows", "unix");
    let case = Case::new(&program, &["24"]).options(&["--snapshot", "every-major"]);
    let run = case.recorded();
    let file = run.recording.join("known");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "# known\nGrows.t*   # a table\nNobody.*\n").unwrap();
    assert_eq!(check(&run.recording, &[]), 4);
    assert_eq!(check(&run.recording, &["--suppress", path]), 0);
    let output =
        with_names("leaks").arg(&run.recording).args(["--suppress", path]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("no leak found\n"), "{text}");
    assert!(text.contains("1 suspect is not listed, as --suppress has them"), "{text}");
    assert!(text.contains("line 3 of the file of --suppress matched nothing: Nobody.*"), "{text}");
    let missing = with_names("leaks").arg(&run.recording).args(["--suppress", "/none"]).output();
    assert_eq!(missing.unwrap().status.code(), Some(3));
}

/// "No leak found" was the verdict, by snapshots from before the table was filled.
#[test]
fn what_stays_after_the_last_snapshot_is_not_cleared() {
    let program = build_with(&named("system"), "leak_late", &[]);
    let options = ["--snapshot", "every-major", "--at-most", "1", "--rate", "1e-3", "--seed", "1"];
    let run = Case::new(&program, &[]).options(&options).recorded();
    let found = json(&run.recording, "--json");
    assert_eq!(found["suspects"], serde_json::json!([]), "{found:#}");
    assert!(found["after_last"].as_f64() > Some(15e6), "{found:#}");
    assert_eq!(found["conclusion"]["verdict"], "undecided", "{found:#}");
    assert_eq!(check(&run.recording, &[]), 6);
}
