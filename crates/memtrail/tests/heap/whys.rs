//! `memtrail why` and `memtrail who`: from calls to roots and back.

use std::path::Path;
use std::process::{Command, Output};

use memtrail_test_support::compilers;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
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

/// `leaks` named a function by its closures, of which `why` said that nothing was alive and sampled.
#[test]
fn closures_of_a_function_without_samples_are_found() {
    let program = build(&compilers::named("system"), "leak_callbacks");
    let options = ["--rate", "1e-8", "--snapshot", "exit"];
    let run = Case::new(&program, &["leak"]).options(&options).recorded();
    let output = memtrail("why", &run.recording, &["Leak_callbacks.open_", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let why: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(why["are_closures"], true, "{why:#}");
    // The function's own, and one for each call.
    assert_eq!(why["alive"]["blocks"], serde_json::json!({"value": 4_001.0, "stderr": 0.0}));
    let owner = &rows(&why, "owners")[0];
    assert!(owner["name"].as_str().unwrap().starts_with("Leak_callbacks / field "), "{why:#}");
    assert!(owner["share"].as_f64().unwrap() > 0.99, "{why:#}");
    let path = &rows(&why, "paths")[0];
    assert!(path["share"].as_f64().unwrap() > 0.99, "{why:#}");
    let output = memtrail("why", &run.recording, &["Leak_callbacks.open_"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("closures of Leak_callbacks.open_"), "{text}");
    let output = memtrail("why", &run.recording, &["Leak_callbacks.nothing"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
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

/// The stacks of a file are the paths, and carry all that is alive.
#[test]
fn retaining_paths_are_stacks_for_other_tools() {
    let held = Held::sampled("1", "system", &[]);
    let who = asked("who", &held, &["Heap_held / field 2", "--by", "function"]);
    let function = rows(&who, "rows")[0]["name"].as_str().unwrap().to_owned();
    let why = asked("why", &held, &[&function, "--limit", "0"]);
    let output = memtrail("why", held.recording(), &[&function, "--format", "folded"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let sum: f64 =
        text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum();
    assert!((sum - value(&why)).abs() < 1.0, "{text}");
    let first: Vec<&str> =
        rows(&rows(&why, "paths")[0], "shape").iter().map(|step| step.as_str().unwrap()).collect();
    assert!(text.starts_with(&first.join(";")), "{text}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("why.pb.gz");
    let args = [&*function, "--format", "pprof", "-o", file.to_str().unwrap()];
    let output = memtrail("why", held.recording(), &args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(std::fs::read(&file).unwrap()[..2], [0x1f, 0x8b], "gzip");
}

/// A call path has what its last function allocates when it is called that way.
#[test]
fn a_call_path_has_a_part_of_what_its_function_has() {
    let held = Held::sampled("1", "system", &[]);
    let who = asked("who", &held, &["Heap_held / field 2", "--by", "function"]);
    let function = rows(&who, "rows")[0]["name"].as_str().unwrap().to_owned();
    let why = asked("why", &held, &[&function, "--limit", "0"]);
    let whole = asked("why", &held, &["--stack", &function, "--limit", "0"]);
    assert!(value(&whole) >= value(&why) - 1.0, "{whole}, {why}");
    let example = rows(&why, "owners")[0]["example"].to_string();
    let block = answer("block", held.recording(), &[&example]);
    let frames: Vec<&str> = rows(&block["sample"], "frames")
        .iter()
        .map(|frame| frame["name"].as_str().unwrap())
        .collect();
    let at = frames.iter().position(|name| *name == function).unwrap();
    let stack = format!("{};{function}", frames[at + 1]);
    let below = asked("why", &held, &["--stack", &stack, "--limit", "0"]);
    assert!(value(&below) > 0.0 && value(&below) <= value(&whole) + 1.0, "{below}");
    let output = memtrail("why", held.recording(), &["--stack", &stack, "--width", "100"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with(&format!("allocated below {}", stack.replace(';', " → "))), "{text}");
    // The other way round nobody is called.
    let stack = format!("{function};{}", frames[at + 1]);
    let output = memtrail("why", held.recording(), &["--stack", &stack]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// A list of blocks has what the owner view has, and is the same for a recording and its snapshot alone.
#[test]
fn blocks_of_an_owner_add_up_to_what_it_owns() {
    let held = Held::sampled("1", "system", &[]);
    let list = |path: &Path, args: &[&str]| {
        let output =
            memtrail("heap", Path::new("blocks"), &[&[path.to_str().unwrap()], args].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let json = |path: &Path, args: &[&str]| -> Value {
        serde_json::from_str(&list(path, &[args, &["--json"]].concat())).unwrap()
    };
    let owned = json(held.recording(), &["owner:\"Heap_held / field 2\"", "--limit", "0"]);
    assert_eq!(owned["size"], held.bytes("alone"), "{owned}");
    assert_eq!(rows(&owned, "rows").len() as u64, owned["count"].as_u64().unwrap());
    let alone = json(&held.last(), &["owner:\"Heap_held / field 2\"", "--limit", "0"]);
    assert_eq!([&alone["size"], &alone["count"]], [&owned["size"], &owned["count"]]);
    assert!(rows(&alone, "rows").iter().all(|row| row["age"].is_null()), "nothing was sampled");
    let aged = json(held.recording(), &["age:>=0", "--sort", "age"]);
    let ages: Vec<f64> =
        rows(&aged, "rows").iter().map(|row| row["age"].as_f64().unwrap()).collect();
    assert!(!ages.is_empty() && ages.is_sorted_by(|a, b| a >= b), "{ages:?}");
    let table = list(held.recording(), &["kind:string", "--csv", "--limit", "3"]);
    assert_eq!(table.lines().next(), Some("block,kind,size,off-heap,retained,owner,age"));
    assert_eq!(table.lines().count(), 4, "{table}");
    let wrong =
        memtrail("heap", Path::new("blocks"), &[held.recording().to_str().unwrap(), "colour:red"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let text = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(text.contains("unknown condition \"colour\"") && text.contains("hint: "), "{text}");
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
