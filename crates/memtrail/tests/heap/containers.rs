//! `memtrail heap containers` on `tests/programs/containers.ml`, whose types nothing declares.

use memtrail_test_support::running::Case;
use memtrail_test_support::{compilers, on_each, programs};
use serde_json::Value;

use crate::{answer, last_snapshot};

fn check(compiler: &str) {
    let program = programs::build(&compilers::named(compiler), "containers");
    let recorded = Case::new(&program, &[]).options(&["--snapshot", "exit", "--contents"]).same();
    let found = answer("containers", &last_snapshot(&recorded.recording), &["--limit", "0"]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(found["count"], rows.len());
    let of = |structure: &str, entries: Option<u64>| -> &Value {
        let is = |row: &&Value| row["structure"] == structure && row["entries"].as_u64() == entries;
        rows.iter().find(is).unwrap_or_else(|| panic!("no {structure} of {entries:?}: {found:#}"))
    };
    for line in recorded.seen.stdout().lines() {
        let (structure, entries) = line.split_once(' ').unwrap();
        let entries = (structure != "buffer").then(|| entries.parse().unwrap());
        let row = of(structure, entries);
        assert!(row["path"].as_str().unwrap().starts_with("Containers / field "), "{row}");
        let owner = row["owner"].as_str().unwrap();
        assert!(owner.starts_with("Containers"), "{row}");
        assert!(row["type"].as_str().unwrap().starts_with("~ "), "{row}");
    }
    let table = of("hashtbl", Some(97));
    assert_eq!(table["buckets"], 64);
    assert_eq!([&table["keys"]["blocks"], &table["values"]["blocks"]], [97, 97]);
    // `[i]` has three words, `entry 1` two and `entry 10` three.
    assert_eq!(table["values"]["bytes"], 97 * 3 * 8);
    assert_eq!(table["keys"]["bytes"], (9 * 2 + 88 * 3) * 8);
    assert_eq!(table["waste"]["empty"], table["empty_buckets"].as_u64().unwrap() * 8);
    let room = of("array", Some(113));
    assert_eq!(room["waste"]["empty"], 100 * 8);
    assert_eq!(of("array", Some(109))["waste"]["empty"], 0);
    assert!(of("buffer", None)["retained"].as_u64().unwrap() > 32 << 10);
}
on_each!(containers_are_measured, check);
