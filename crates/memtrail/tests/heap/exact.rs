//! Sizes, against what the programs themselves count.

use serde_json::Value;

use memtrail_test_support::on_each;

use crate::{Held, answer};

/// The row of a root.
fn row<'a>(roots: &'a Value, path: &[&str]) -> &'a Value {
    let rows = roots["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| row["path"] == serde_json::json!(path));
    found.unwrap_or_else(|| panic!("no {path:?} in {roots:#}"))
}

fn roots_retain_what_they_alone_keep(compiler: &str) {
    let held = Held::new(compiler, &[]);
    let file = held.last();
    let roots = answer("roots", &file, &["--retained", "--limit", "0", "--min", "0"]);
    let field = |number: &str| row(&roots, &["Heap_held", number]);
    for (number, name) in [("field 0", "first"), ("field 1", "second"), ("field 2", "alone")] {
        assert_eq!(field(number)["reachable"], held.bytes(name), "{name}");
    }
    let [first, second, both] = ["first", "second", "both"].map(|name| held.bytes(name));
    let common = first + second - both;
    assert_eq!(field("field 0")["retained"], first - common);
    assert_eq!(field("field 1")["retained"], second - common);
    assert_eq!(field("field 2")["retained"], held.bytes("alone"));
    assert_eq!(field("field 3")["retained_external"], 12_345 * 8);
    // What the two registries share is the module's, and of none of its fields.
    let module = row(&roots, &["Heap_held"]);
    assert_eq!(module["jointly_retained"], common);
    let fields = roots["rows"].as_array().unwrap().iter();
    let fields: u64 = fields
        .filter(|row| row["part_of"] == module["root"])
        .map(|row| row["retained"].as_u64().unwrap())
        .sum();
    assert_eq!(module["retained"], fields + common);

    let group = answer(
        "retained",
        &file,
        &["--root", "Heap_held / field 0", "--root", "Heap_held / field 1"],
    );
    assert_eq!(group["retained"], both);
    let shared = answer("shared", &file, &["Heap_held / field 0", "Heap_held / field 1"]);
    assert_eq!(shared["common"], common);
    assert_eq!(shared["reachable"], serde_json::json!([first, second]));
}

#[test]
fn roots_retain_what_they_alone_keep_on_4() {
    roots_retain_what_they_alone_keep("system");
}

#[test]
fn roots_retain_what_they_alone_keep_on_5() {
    roots_retain_what_they_alone_keep("ocaml-5.3.0");
}

#[test]
fn kinds_of_roots_and_what_they_keep_together_are_all_there_is() {
    let held = Held::new("system", &[]);
    let file = held.last();
    let roots = answer("roots", &file, &["--retained", "--limit", "0"]);
    let kinds = roots["rows"].as_array().unwrap().iter();
    let kinds: u64 = kinds
        .filter(|row| row["path"].as_array().unwrap().is_empty())
        .map(|row| row["retained"].as_u64().unwrap())
        .sum();
    assert_eq!(roots["retained"], kinds + roots["jointly_retained"].as_u64().unwrap());
    assert_eq!(roots["retained"], answer("info", &file, &[])["reachable_bytes"]);
    assert_eq!(roots["retained"], answer("histogram", &file, &[])["bytes"]);
}

fn blocks_of_owners_add_up(compiler: &str) {
    let held = Held::new(compiler, &[]);
    let file = held.last();
    let all = answer("histogram", &file, &["--limit", "0"]);
    let owners = answer("histogram", &file, &["--by", "owner", "--limit", "0"]);
    let owners = owners["rows"].as_array().unwrap();
    for (of_owner, of_all) in [("blocks", "blocks"), ("owned", "bytes")] {
        let sum: u64 = owners.iter().map(|row| row[of_owner].as_u64().unwrap()).sum();
        assert_eq!(all[of_all], sum, "{of_all}");
    }
    // `alone` is an array of strings that nothing else refers to.
    let alone = answer("histogram", &file, &["--by", "kind", "--owner", "Heap_held / field 2"]);
    assert_eq!(alone["blocks"], 501);
    assert_eq!(alone["bytes"], held.bytes("alone"));
    let strings = alone["rows"].as_array().unwrap().iter().find(|row| row["kind"] == "string");
    let strings = strings.unwrap_or_else(|| panic!("{alone:#}"));
    assert_eq!(strings["blocks"], 500);
    // The array itself retains them all.
    assert_eq!(alone["rows"][1]["retained"], held.bytes("alone"));
}
on_each!(blocks_of_owners_add_up, blocks_of_owners_add_up);

#[test]
fn retained_of_a_kind_is_not_more_than_one_by_one_says() {
    let held = Held::new("system", &[]);
    let file = held.last();
    let kinds = answer("histogram", &file, &["--limit", "0"]);
    let rows = kinds["rows"].as_array().unwrap();
    let bytes = |value: &Value| value.as_u64().unwrap();
    let mut seen_static = false;
    for row in rows.iter().filter(|row| !row["retained"].is_null()) {
        let kind = row["kind"].as_str().unwrap();
        let jointly_retained = answer("retained", &file, &["--kind", kind]);
        // Static data is never freed.
        let in_heap = bytes(&jointly_retained["bytes"]) - bytes(&jointly_retained["static_bytes"]);
        seen_static |= bytes(&jointly_retained["static_bytes"]) > 0;
        assert!(bytes(&jointly_retained["retained"]) >= in_heap, "{kind}: {jointly_retained}");
        assert_eq!(jointly_retained["bytes"], row["bytes"], "{kind}");
    }
    assert!(seen_static);
    let printed = crate::printed(["histogram".as_ref(), file.as_os_str(), "--limit=0".as_ref()]);
    let computed = printed.lines().filter(|line| line.contains('≥')).count();
    assert_eq!(computed, rows.iter().filter(|row| !row["retained"].is_null()).count());
    assert!(printed.contains("–: not computed"), "{printed}");
}

#[test]
fn finalisers_keep_what_nothing_else_does() {
    let held = Held::new("system", &[]);
    let roots =
        answer("roots", &held.last(), &["--retained", "--kind", "finaliser", "--limit", "0"]);
    let finaliser = row(&roots, &["Heap_held.finaliser"]);
    assert_eq!(finaliser["retained"], 7_778 * 8);
    let kinds = roots["rows"].as_array().unwrap();
    assert!(kinds.iter().all(|row| row["kind"] == "finaliser"), "{roots:#}");
}

#[test]
fn a_frame_keeps_its_locals() {
    let held = Held::new("system", &[]);
    let frames = |snapshot: &str| {
        let all = answer("stack", held.recording(), &["--snapshot", snapshot]);
        let all = all["rows"].as_array().unwrap().clone();
        let of = |name: &'static str| {
            all.iter().find(|row| {
                let path = row["path"].as_array().unwrap();
                path.last().is_some_and(|frame| frame.as_str().unwrap().starts_with(name))
            })
        };
        of("Heap_held.work (heap_held.ml:").map(|row| row["retained"].as_u64().unwrap())
    };
    // `Gc.full_major` ends three collections inside `work`; the exit is outside.
    assert_eq!(frames("1"), Some(held.bytes("local")));
    let last = held.last();
    assert_eq!(answer("info", &last, &[])["reason"], "exit");
    assert_eq!(
        answer("stack", &last, &[])["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| { row["path"].to_string().contains("Heap_held.work") }),
        None
    );
}

#[test]
fn all_ways_that_share_no_block() {
    let held = Held::new("system", &[]);
    let file = held.last();
    let kind = "~ array";
    // It has the kind of blocks without a type, too.
    let merged = answer("path", &file, &["--kind", "tag 0, 2048 to 4095 fields"]);
    let block = merged["paths"][0]["example"].to_string();
    let found = answer("path", &file, &["--block", &block, "--all"]);
    assert_eq!(found["all"], true);
    let ways = found["paths"].as_array().unwrap().iter();
    let fields = ways.map(|way| {
        let steps = way["steps"].as_array().unwrap();
        assert_eq!(steps.last().unwrap()["name"], kind);
        let above = steps.iter().filter(|step| step["dominates"] == true).map(|step| &step["name"]);
        // Both ways begin at the module, and nothing between that and the array is on both.
        assert_eq!(above.collect::<Vec<_>>(), ["global", "Heap_held", kind]);
        steps[2]["name"].as_str().unwrap().to_owned()
    });
    let mut fields: Vec<_> = fields.collect();
    fields.sort();
    assert_eq!(fields, ["field 0", "field 1"]);
    let some = answer("path", &file, &["--block", &block, "--all", "--limit", "1"]);
    assert_eq!((some["all"].as_bool(), some["paths"].as_array().unwrap().len()), (Some(false), 1));
}

#[test]
fn duplicate_strings_are_counted() {
    let held = Held::new("system", &["--contents"]);
    let strings = answer("strings", &held.last(), &["--limit", "5"]);
    let copies = strings["duplicates"].as_array().unwrap().iter();
    let copies = copies.clone().find(|copy| copy["start"].as_str().unwrap().starts_with("cccc"));
    let copies = copies.unwrap_or_else(|| panic!("{strings:#}"));
    assert_eq!((copies["times"].as_u64(), copies["length"].as_u64()), (Some(100), Some(50)));
    assert_eq!(copies["wasted"], 99 * 64);
}
