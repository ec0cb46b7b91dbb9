//! Blocks without a type are named by the samples wherever one is shown: `tests/programs/shared_records.ml`.

use std::path::Path;

use memtrail_test_support::{compilers, on_each, programs};
use serde_json::Value;

use crate::{Case, answer, last_snapshot, printed};

/// All blocks are sampled, so what is said does not depend on chance.
fn check(compiler: &str) {
    let program = programs::build(&compilers::named(compiler), "shared_records");
    let options = ["--rate", "1", "--snapshot", "exit"];
    let recorded = Case::new(&program, &[]).options(&options).same();
    let file = last_snapshot(&recorded.recording);
    let by = "allocated by Shared_records.make shared_records.ml:6 in 20 of 20 samples";

    let found = answer("joint", &file, &["Shared_records", "--limit", "0"]);
    let blocks = found["rows"][0]["blocks"].as_array().unwrap();
    let named = blocks.iter().filter(|block| !block["allocated"].is_null());
    let named: Vec<_> = named.collect();
    assert_eq!(named.len(), 20, "{found:#}");
    assert!(named.iter().all(|block| block["kind"] == "tag 0, 3 fields"), "{found:#}");
    let text = printed(["joint", file.to_str().unwrap(), "Shared_records", "--width", "120"]);
    assert!(text.contains(by), "{text}");

    let block = named[0]["block"].to_string();
    let path = answer("path", &file, &["--block", &block]);
    let last = path["steps"].as_array().unwrap().last().unwrap();
    let allocated = &last["allocated"];
    assert_eq!(allocated["name"], "Shared_records.make", "{path:#}");
    assert_eq!([&allocated["samples"], &allocated["of"]], [20, 20], "{path:#}");
    let file = file.to_str().unwrap();
    let text = printed(["path", file, "--block", &block, "--width", "120"]);
    assert!(text.contains(by), "{text}");

    // All ways to them, merged.
    let text =
        printed(["path", file, "--kind", "tag 0, 3 fields", "--limit", "0", "--width", "120"]);
    assert!(text.contains(by), "{text}");
    let merged = answer("path", Path::new(file), &["--kind", "tag 0, 3 fields"]);
    for path in merged["paths"].as_array().unwrap() {
        let [shape, allocated] = ["shape", "allocated"].map(|key| path[key].as_array());
        assert!(allocated.is_none_or(|names| Some(names.len()) == shape.map(Vec::len)), "{path:#}");
    }

    // What the variable has that owns them.
    let roots = answer("roots", Path::new(file), &["--limit", "0"]);
    let mut rows = roots["rows"].as_array().unwrap().iter();
    let has_records =
        |row: &&Value| row["path"][0] == "Shared_records" && row["owned"].as_u64() >= Some(20 * 32);
    let path = rows.find(has_records).unwrap()["path"].as_array().unwrap();
    let name = path.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" / ");
    let owner = answer("roots", Path::new(file), &[&name]);
    let kinds = owner["contents"]["rows"].as_array().unwrap();
    let records = kinds.iter().find(|row| row["kind"] == "tag 0, 3 fields").unwrap();
    assert_eq!([&records["blocks"], &records["allocated"][0]["of"]], [20, 20], "{owner:#}");
    let text = printed(["roots", file, &name, "--width", "120"]);
    assert!(text.contains(by), "{text}");
}
on_each!(shared_blocks_and_steps_of_paths_are_named_by_samples, check);
