//! Questions with one answer for a process and for a family: the same figures in text and JSON, with and without
//! `--memory`.

use std::collections::BTreeMap;
use std::path::Path;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::{figure, json, printed};

/// A question: its words, what names a row, and figures of rows that add up over processes.
const QUESTIONS: &[(&[&str], &str, &[&str])] = &[
    (&["heap", "histogram"], "kind", &["blocks", "bytes", "external"]),
    (&["heap", "histogram", "--by", "kind"], "kind", &["blocks", "bytes", "external"]),
    (&["heap", "histogram", "--owner", "Family_apart"], "kind", &["blocks", "bytes"]),
    (&["heap", "containers"], "path", &["retained", "entries"]),
    (&["heap", "containers", "--kind", "list"], "path", &["retained", "entries"]),
];

/// Removes the files of an earlier analysis, so that there is a new one.
fn forget(recordings: &[impl AsRef<Path>]) {
    for recording in recordings {
        for left in ["0001.heap.index", "0001.heap.types"] {
            let _ = std::fs::remove_file(recording.as_ref().join(left));
        }
    }
}

/// Figures of rows by their names.
fn sums(answers: &[Value], name: &str, figures: &[&str]) -> BTreeMap<String, Vec<u64>> {
    let mut sums: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in answers.iter().flat_map(|answer| answer["rows"].as_array().expect("rows")) {
        let name = row[name].as_str().expect("a name").to_owned();
        let sum = sums.entry(name).or_insert_with(|| vec![0; figures.len()]);
        sum.iter_mut().zip(figures).for_each(|(sum, name)| *sum += figure(row, name));
    }
    sums
}

#[test]
fn one_answer_for_a_process_and_a_family() {
    let options = ["--rate", "1", "--children", "--snapshot", "exit"];
    let case = Case::new(&build(&named("system"), "family_apart"), &["030"]).options(&options);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success() && recordings.len() == 3, "{seen:?} {recordings:?}");
    let family = recordings[0].parent().expect("a folder").to_path_buf();
    for (question, name, figures) in QUESTIONS {
        let ask = |more: &[&str], path: &Path| {
            forget(&recordings);
            json(&[question, &["--json"][..], more].concat(), path)
        };
        let all = ask(&["--limit", "0"], &family);
        let alone: Vec<Value> =
            recordings.iter().map(|recording| ask(&["--limit", "0"], recording)).collect();
        let whole = std::slice::from_ref(&all);
        assert_eq!(sums(whole, name, figures), sums(&alone, name, figures), "{question:?}");
        assert!(alone.iter().all(|answer| answer.get("processes").is_none()), "{question:?}");

        // Rows left out are counted.
        let some = ask(&["--limit", "1"], &family);
        let rows = |answer: &Value| answer["rows"].as_array().map_or(0, Vec::len);
        assert_eq!(rows(&some), 1, "{question:?}");
        let left_out = figure(&some, "left_out");
        assert_eq!(left_out as usize, rows(&all) - 1, "{question:?}");

        // The text has these rows and no others.
        let text = printed(&[question, &["--limit", "1", "--width", "200"][..]].concat(), &family);
        let more = format!("… and {left_out} more (--limit 0: all)");
        assert_eq!(text.contains(&more), left_out > 0, "{question:?}: {text}");
        for row in some["rows"].as_array().expect("rows") {
            assert!(text.contains(row[name].as_str().expect("a name")), "{question:?}: {text}");
        }

        for path in [&family, &recordings[1]] {
            let text = |more: &[&str]| {
                forget(&recordings);
                printed(&[question, more].concat(), path)
            };
            let limit = ["--memory", "300M"];
            assert_eq!(text(&[]), text(&limit), "{question:?}");
            assert_eq!(ask(&[], path), ask(&limit, path), "{question:?}");
        }
    }
}
