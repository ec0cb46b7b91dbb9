//! Questions with one answer for a process and for a family: the same figures in text and JSON, with and without
//! `--memory`.

use std::collections::BTreeMap;
use std::path::Path;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::{figure, json, printed};

/// A question with rows.
struct Question {
    words: &'static [&'static str],
    /// The list of rows.
    rows: &'static str,
    /// The name of a row.
    name: &'static str,
    /// Figures of rows that add up over processes.
    figures: &'static [&'static str],
}

const fn question(
    words: &'static [&'static str],
    name: &'static str,
    figures: &'static [&'static str],
) -> Question {
    Question { words, rows: "rows", name, figures }
}

const QUESTIONS: &[Question] = &[
    question(&["heap", "histogram"], "kind", &["blocks", "bytes", "external"]),
    question(&["heap", "histogram", "--by", "kind"], "kind", &["blocks", "bytes", "external"]),
    question(&["heap", "histogram", "--owner", "Family_apart"], "kind", &["blocks", "bytes"]),
    question(&["heap", "roots"], ROOT, &["owned", "owned_external", "retained"]),
    question(&["heap", "containers"], "path", &["retained", "entries"]),
    question(&["heap", "containers", "--kind", "list"], "path", &["retained", "entries"]),
    question(&["heap", "sites"], "name", &["blocks", "bytes", "retained"]),
    question(&["heap", "blocks", "--sort", "size"], "kind", &["size"]),
    Question {
        rows: "duplicates",
        ..question(&["heap", "strings"], "start", &["times", "wasted"])
    },
];

/// The kind of a root: its names are a list.
const ROOT: &str = "kind";

/// Removes the files of an earlier analysis, so that there is a new one.
fn forget(recordings: &[impl AsRef<Path>]) {
    for recording in recordings {
        for left in ["0001.heap.index", "0001.heap.types"] {
            let _ = std::fs::remove_file(recording.as_ref().join(left));
        }
    }
}

/// Figures of rows by their names.
fn sums(answers: &[Value], question: &Question) -> BTreeMap<String, Vec<u64>> {
    let Question { rows, name, figures, .. } = *question;
    let mut sums: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in answers.iter().flat_map(|answer| answer[rows].as_array().expect("rows")) {
        let name = row[name].as_str().expect("a name").to_owned();
        let sum = sums.entry(name).or_insert_with(|| vec![0; figures.len()]);
        sum.iter_mut().zip(figures).for_each(|(sum, name)| *sum += figure(row, name));
    }
    sums
}

#[test]
fn one_answer_for_a_process_and_a_family() {
    let options = ["--rate", "1", "--children", "--snapshot", "exit", "--contents"];
    let case = Case::new(&build(&named("system"), "family_apart"), &["030"]).options(&options);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success() && recordings.len() == 3, "{seen:?} {recordings:?}");
    let family = recordings[0].parent().expect("a folder").to_path_buf();
    for about in QUESTIONS {
        let question = about.words;
        let ask = |more: &[&str], path: &Path| {
            forget(&recordings);
            json(&[question, &["--json"][..], more].concat(), path)
        };
        let all = ask(&["--limit", "0"], &family);
        let alone: Vec<Value> =
            recordings.iter().map(|recording| ask(&["--limit", "0"], recording)).collect();
        let whole = std::slice::from_ref(&all);
        assert_eq!(sums(whole, about), sums(&alone, about), "{question:?}");
        assert!(alone.iter().all(|answer| answer.get("processes").is_none()), "{question:?}");
        let recordings_of = |answer: &Value| {
            let processes = answer["processes"].as_array().expect("processes").iter();
            processes.filter_map(|one| Some(one["recording"].as_str()?.to_owned())).count()
        };
        assert_eq!(recordings_of(&all), 3, "{question:?}");

        // Rows left out are counted.
        let some = ask(&["--limit", "1"], &family);
        let rows = |answer: &Value| answer[about.rows].as_array().map_or(0, Vec::len);
        assert_eq!(rows(&some), 1, "{question:?}");
        let left_out = figure(&some, "left_out");
        assert_eq!(left_out as usize, rows(&all) - 1, "{question:?}");

        // The text has these rows and no others.
        let text = printed(&[question, &["--limit", "1", "--width", "200"][..]].concat(), &family);
        let more = format!("… and {left_out} more");
        let digits = text.replace(',', "");
        assert_eq!(digits.contains(&more), left_out > 0, "{question:?}: {text}");
        for row in some[about.rows].as_array().expect("rows") {
            let name = row[about.name].as_str().expect("a name");
            assert!(question.contains(&"roots") || text.contains(name), "{question:?}: {text}");
        }

        let text = |more: &[&str]| {
            forget(&recordings);
            printed(&[question, more].concat(), &family)
        };
        let limit = ["--memory", "300M"];
        assert_eq!(text(&[]), text(&limit), "{question:?}");
        assert_eq!(ask(&[], &family), ask(&limit, &family), "{question:?}");
    }
}
