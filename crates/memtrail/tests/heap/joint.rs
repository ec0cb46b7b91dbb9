//! `memtrail heap joint` on `tests/programs/heap_held.ml`, whose first two variables share an array.

use memtrail_test_support::on_each;
use serde_json::json;

use crate::{Held, answer, printed};

fn check(compiler: &str) {
    let held = Held::new(compiler, &[]);
    let file = held.last();
    let [first, second, both] = ["first", "second", "both"].map(|name| held.bytes(name));
    let common = first + second - both;
    let found = answer("joint", &file, &["Heap_held"]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{found:#}");
    let share = &rows[0];
    assert_eq!(share["path"], json!(["Heap_held"]));
    assert_eq!([&share["retained"], &share["left_out"]], [&json!(common), &json!(0)], "{found:#}");
    let block = &share["blocks"][0];
    assert_eq!(block["retained"], common);
    let names = ["Heap_held / field 0", "Heap_held / field 1"];
    let of = |rows: &serde_json::Value| -> Vec<String> {
        let names = rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(of(&block["reached_by"]), names);
    assert_eq!(block["reached_by"][0]["name"], names[0]);
    assert_eq!(block["reaching"], 2);
    assert_eq!(of(&block["cut"]), names);
    // Variables get other values: no block has to be changed.
    assert!(block["cut"].as_array().unwrap().iter().all(|cut| cut["block"].is_null()), "{block:#}");
    let text = printed(["joint", file.to_str().unwrap(), "Heap_held", "--width", "120"]);
    let expected = "reached by Heap_held / field 0 and Heap_held / field 1; cut both to free it";
    assert!(text.contains(expected), "{text}");
    // Both are gone: so is what they share.
    let roots = names.map(|name| ["--root", name]).concat();
    assert_eq!(answer("retained", &file, &roots)["retained"], both);
}
on_each!(joint_shares_are_opened, check);

#[test]
fn joint_shares_below_the_least_size_are_left_out() {
    let held = Held::new("system", &[]);
    let file = held.last();
    let text = printed(["joint", file.to_str().unwrap(), "--min", "1G"]);
    assert_eq!(text, "nothing of 1.00 GiB or more is retained jointly\n");
}
