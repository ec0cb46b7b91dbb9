//! Memory outside the heap that bigarrays have or share.

use std::path::Path;

use memtrail_test_support::running::Case;
use serde_json::Value;

use crate::{answer, compilers, last_snapshot, printed, programs};

/// What `malloc` reserves for so many bytes where it maps them by themselves.
fn reserved(bytes: u64) -> u64 {
    (bytes + 8 + 8).next_multiple_of(4096) - 16
}

/// What the fields of the program's module keep outside, by their numbers.
fn fields(file: &Path) -> impl Fn(u64, &str) -> u64 {
    let roots = answer("roots", file, &["--retained", "--limit", "0"]);
    move |number, what| {
        let path = serde_json::json!(["Heap_bigarrays", format!("field {number}")]);
        let rows = roots["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["path"] == path);
        row.unwrap_or_else(|| panic!("no {path} in {roots:#}"))[what].as_u64().unwrap()
    }
}

fn views_of_a_bigarray_keep_its_data_jointly(compiler: &str) {
    let program = programs::build(&compilers::named(compiler), "heap_bigarrays");
    let options = ["--rate", "1e-4", "--snapshot", "exit"];
    let recorded = Case::new(&program, &[]).options(&options).same();
    let file = last_snapshot(&recorded.recording);
    let field = fields(&file);
    // The parents are gone: all of their data is kept by a small view.
    for (number, bytes) in [(2, 10_000_000), (3, 20_000_000), (4, 30_000_000)] {
        assert_eq!(field(number, "retained_external"), reserved(bytes), "field {number}");
    }
    // Two views of the same data: clearing one frees nothing outside.
    for number in [5, 6, 7, 8] {
        assert_eq!(field(number, "retained_external"), 0, "field {number}");
    }
    for (number, bytes) in [(5, reserved(40_000_000)), (6, reserved(40_000_000)), (7, 50_001)] {
        assert_eq!(field(number, "reachable_external"), bytes, "field {number}");
    }
    assert_eq!(field(8, "reachable_external"), 50_001);
    assert_eq!(field(9, "retained_external"), 123_456);
    assert_eq!(field(10, "retained_external"), 234_567);

    let both = ["--root", "Heap_bigarrays / field 5", "--root", "Heap_bigarrays / field 6"];
    let both = answer("retained", &file, &both);
    assert_eq!(both["retained_external"], reserved(40_000_000));

    let info = answer("info", &file, &[]);
    let allocated: u64 =
        [10_000_000, 20_000_000, 30_000_000, 40_000_000].map(reserved).iter().sum();
    let mapped = 123_456 + 234_567;
    // The buffers of standard input, output and error.
    let channels = 3 << 16;
    assert_eq!(info["external"], allocated + 50_001 + mapped + channels);
    assert_eq!(info["external_mapped"], mapped);
    assert_eq!(info["external_unknown"], 0);

    let kinds = answer("histogram", &file, &["--limit", "0"]);
    let kinds = kinds["rows"].as_array().unwrap();
    let kind = |name: &str| -> &Value { kinds.iter().find(|row| row["kind"] == name).unwrap() };
    assert_eq!(kind("off-heap bigarray data")["external"], allocated + 50_001);
    assert_eq!(kind("off-heap bigarray data")["blocks"], 5);
    assert_eq!(kind("off-heap bigarray data")["bytes"], 0);
    // Three of a parent that is gone, and two of each of two that are shared.
    assert_eq!(kind("off-heap bigarray data")["shared_by"], 7);
    assert_eq!(kind("bigarray").get("shared_by"), None);
    assert_eq!(kind("off-heap mapped file")["external"], 234_567);
}

#[test]
fn views_of_a_bigarray_keep_its_data_jointly_on_4() {
    views_of_a_bigarray_keep_its_data_jointly("system");
}

#[test]
fn views_of_a_bigarray_keep_its_data_jointly_on_4_14() {
    views_of_a_bigarray_keep_its_data_jointly("ocaml-4.14.1000");
}

#[test]
fn views_of_a_bigarray_keep_its_data_jointly_on_5_1() {
    if compilers::is_installed("ocaml-5.1.4") {
        views_of_a_bigarray_keep_its_data_jointly("ocaml-5.1.4");
    }
}

#[test]
fn views_of_a_bigarray_keep_its_data_jointly_on_5() {
    views_of_a_bigarray_keep_its_data_jointly("ocaml-5.3.0");
}

/// 9 MB in bigarrays came after kilobytes in the heap, and grew by a few words.
fn off_heap_memory_counts_in_order_and_growth(compiler: &str) {
    let program = programs::build(&compilers::named(compiler), "heap_off_heap");
    let options = ["--rate", "1e-4", "--snapshot", "every-major", "--snapshot", "exit"];
    let recorded = Case::new(&program, &[]).options(&options).same();
    let rec = &recorded.recording;
    let first = |rows: &Value| -> Value { rows[0].clone() };
    let is_images = |row: &Value| row.to_string().contains("Heap_off_heap / field 1");
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value:#}"));

    let roots = answer("roots", rec, &[]);
    let roots = roots["rows"].as_array().unwrap();
    let images = &roots[0];
    assert_eq!(images["path"], serde_json::json!(["Heap_off_heap", "field 1"]), "{roots:#?}");
    assert!(number(&images["owned_external"]) >= 9_000_000, "{images:#}");
    // More is in the heap of others.
    let owned = |row: &Value| number(&row["owned"]);
    assert!(roots.iter().any(|row| owned(row) > owned(images)), "{roots:#?}");
    let retained = answer("roots", rec, &["--retained"]);
    assert!(retained["rows"].to_string().contains("retained_external"), "{retained:#}");
    let kinds = answer("histogram", rec, &["--limit", "0"]);
    assert_eq!(first(&kinds["rows"])["kind"], "bigarray");

    let growth = answer("growth", rec, &[]);
    let rows = growth["rows"].as_array().unwrap();
    let images = rows.iter().find(|row| is_images(row)).unwrap_or_else(|| panic!("{growth:#}"));
    assert!(number(&images["grown"]) >= 4_000_000, "{images:#}");
    let external = images["external"].as_array().unwrap();
    assert_eq!(external.len(), images["bytes"].as_array().unwrap().len());
    assert!(number(external.last().unwrap()) >= 9_000_000, "{images:#}");
    let mut owners = rows.iter().filter(|row| row["is_root"] == true);
    assert!(owners.all(|row| number(&row["grown"]) <= number(&images["grown"])));

    let diff = answer("diff", rec, &[]);
    let images = first(&diff["owners"]);
    assert!(is_images(&images), "{diff:#}");
    assert!(number(&images["external"][1]) >= 9_000_000, "{images:#}");
    assert_eq!(first(&diff["kinds"])["name"], "bigarray");
    let [before, after] = [0, 1].map(|side| number(&diff["external"][side]));
    assert!(after - before >= 4_000_000, "{before} and {after}");

    let text = |question: &str| printed([question.as_ref(), rec.as_os_str()]);
    for question in ["diff", "growth"] {
        let text = text(question);
        let line = text.lines().find(|line| is_images(&Value::from(*line)));
        let line = line.unwrap_or_else(|| panic!("no row in {text}"));
        assert!(text.contains("off-heap") && line.matches("MiB").count() >= 3, "{text}");
    }
}

#[test]
fn off_heap_memory_counts_in_order_and_growth_on_4() {
    off_heap_memory_counts_in_order_and_growth("system");
}

#[test]
fn off_heap_memory_counts_in_order_and_growth_on_5() {
    off_heap_memory_counts_in_order_and_growth("ocaml-5.3.0");
}
