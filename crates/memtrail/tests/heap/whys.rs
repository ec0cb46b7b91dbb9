//! `memtrail why` and `memtrail who`: from calls to roots and back.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::{Held, answer};

fn memtrail(command: &str, recording: &Path, args: &[&str]) -> Output {
    let mut all = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    all.env_remove("COLUMNS").arg(command).arg(recording).args(args).output().unwrap()
}

fn asked(command: &str, held: &Held, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let output = memtrail(command, held.recording(), &args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn value(of: &Value) -> f64 {
    of["alive"]["bytes"]["value"].as_f64().unwrap()
}

fn rows<'v>(of: &'v Value, name: &str) -> &'v Vec<Value> {
    of[name].as_array().unwrap()
}

/// With all words sampled, the figures are those of the heap.
#[test]
fn who_allocated_a_variables_blocks_adds_up_to_what_it_owns() {
    let held = Held::sampled("1", "system", &[]);
    for (name, root) in [("alone", "Heap_held / field 2"), ("copies", "Heap_held / field 4")] {
        let who = asked("who", &held, &[root, "--limit", "0"]);
        assert_eq!(who["of"], "owner");
        assert_eq!(who["names"], serde_json::json!([root]));
        assert_eq!(who["size"], held.bytes(name), "{who}");
        assert!((value(&who) - held.bytes(name) as f64).abs() < 1.0, "{who}");
        let sum: f64 = rows(&who, "rows").iter().map(value).sum();
        assert!((sum - value(&who)).abs() < 1.0, "{who}");
        let shares: f64 = rows(&who, "rows").iter().map(|row| row["share"].as_f64().unwrap()).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{who}");
        assert!(rows(&who, "rows").is_sorted_by(|a, b| value(a) >= value(b)), "{who}");
    }
}

/// The other way round: a function's blocks have the owners that the snapshot says.
#[test]
fn why_something_is_alive_names_its_owners() {
    let held = Held::sampled("1", "system", &[]);
    let who = asked("who", &held, &["Heap_held / field 2", "--by", "function"]);
    let function = rows(&who, "rows")[0]["name"].as_str().unwrap().to_owned();
    let why = asked("why", &held, &[&function, "--limit", "0"]);
    assert_eq!(why["are_callers"], false);
    assert!(rows(&why, "names").contains(&function.clone().into()), "{why}");
    let owners = rows(&why, "owners");
    let alone = owners.iter().find(|owner| owner["name"] == "Heap_held / field 2").unwrap();
    assert!((value(alone) - value(&rows(&who, "rows")[0])).abs() < 1.0, "{alone}");
    let sum: f64 = owners.iter().map(value).sum();
    assert!((sum - value(&why)).abs() < 1.0, "{why}");
    // The block is one of them, and was allocated there.
    let block = answer("block", held.recording(), &[&alone["example"].to_string()]);
    assert_eq!(block["sample"]["frames"][0]["name"].as_str().unwrap(), function);
    let paths: f64 = rows(&why, "paths").iter().map(|path| path["share"].as_f64().unwrap()).sum();
    assert!((paths - 1.0).abs() < 1e-6, "{why}");

    // The module's own code calls all that is in its variables.
    let callers = asked("why", &held, &["Heap_held", "--limit", "0"]);
    assert!(value(&callers) > 0.0);
}

/// Estimates are close to what is there.
#[test]
fn estimates_of_owners_agree_with_their_exact_size() {
    let held = Held::sampled("1e-2", "system", &[]);
    let who = asked("who", &held, &["Heap_held / field 2"]);
    let stderr = who["alive"]["bytes"]["stderr"].as_f64().unwrap();
    let exact = held.bytes("alone") as f64;
    assert!(stderr > 0.0 && (value(&who) - exact).abs() < 4.5 * stderr, "{who}");
}

#[test]
fn what_nobody_allocated_or_owns_is_an_error() {
    let held = Held::sampled("1e-2", "system", &[]);
    for (command, hint) in [("why", "memtrail heap sites"), ("who", "memtrail heap roots")] {
        let output = memtrail(command, held.recording(), &["No_such.name"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("No_such.name") && text.contains(hint), "{text}");
        let text = memtrail(command, held.recording(), &["Heap_held", "--width", "60"]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    }
}
