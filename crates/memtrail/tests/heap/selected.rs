//! Rows that are asked for: `--find`, `--sort`, `--offset` and `--limit`.

use serde_json::Value;

use crate::{Held, answer, complaint, heap};

/// A question, its list of rows, a text in some of their names, and orders with the figures that they are by.
struct Selected {
    question: &'static str,
    rows: &'static str,
    name: &'static str,
    text: &'static str,
    orders: &'static [(&'static str, Figure)],
}

/// The figure of a row that an order is by.
type Figure = fn(&Value) -> u64;

fn figure(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or(0)
}

const QUESTIONS: &[Selected] = &[
    Selected {
        question: "histogram",
        rows: "rows",
        name: "kind",
        text: "array",
        orders: &[
            ("size", |row| figure(row, "bytes") + figure(row, "external")),
            ("blocks", |row| figure(row, "blocks")),
            ("retained", |row| figure(row, "retained")),
            ("off-heap", |row| figure(row, "external")),
        ],
    },
    Selected {
        question: "containers",
        rows: "rows",
        name: "path",
        text: "field",
        orders: &[
            ("retained", |row| figure(row, "retained") + figure(row, "retained_external")),
            ("entries", |row| figure(row, "entries")),
            ("wasted", |row| {
                let parts = ["empty", "boxed", "duplicates"];
                parts.iter().map(|part| figure(&row["waste"], part)).sum()
            }),
        ],
    },
    Selected {
        question: "strings",
        rows: "duplicates",
        name: "start",
        text: "c",
        orders: &[
            ("wasted", |row| figure(row, "wasted")),
            ("times", |row| figure(row, "times")),
            ("length", |row| figure(row, "length")),
        ],
    },
];

#[test]
fn rows_are_found_put_in_order_and_skipped() {
    let held = Held::new("system", &["--contents"]);
    let file = held.last();
    for Selected { question, rows, name, text, orders } in QUESTIONS {
        let ask = |more: &[&str]| answer(question, &file, more);
        let list = |answer: &Value| answer[rows].as_array().expect("rows").clone();
        let all = ask(&["--limit", "0"]);
        let count = list(&all).len();
        for (order, figure) in *orders {
            let sorted = list(&ask(&["--limit", "0", "--sort", order]));
            assert_eq!(sorted.len(), count, "{question} {order}");
            assert!(sorted.is_sorted_by_key(|row| u64::MAX - figure(row)), "{question} {order}");
            let some = ask(&["--sort", order, "--offset", "1", "--limit", "2"]);
            let end = count.min(3);
            assert_eq!(list(&some), sorted[1.min(end)..end], "{question} {order}");
            assert_eq!(some["left_out"], count - list(&some).len(), "{question} {order}");
        }
        let names = list(&ask(&["--limit", "0", "--sort", "name"]));
        assert!(question == &"containers" || names.is_sorted_by_key(|row| row[name].to_string()));
        let has_it =
            |row: &Value| row[name].as_str().expect("a name").to_lowercase().contains(text);
        let found = list(&ask(&["--limit", "0", "--find", text]));
        let expected = list(&all).iter().filter(|row| has_it(row)).count();
        assert!(found.len() >= expected && expected > 0, "{question}: {found:#?}");
        // A container has the text in its type or owner, too.
        assert!(*question == "containers" || found.iter().all(has_it), "{question}: {found:#?}");
        let none = ask(&["--find", "there is no such text"]);
        assert_eq!((list(&none).len(), &none["left_out"]), (0, &Value::from(0)), "{question}");
    }
    let words = ["histogram".as_ref(), file.as_os_str(), "--by".as_ref(), "owner".as_ref()];
    let (code, message) =
        complaint(&heap(words.iter().chain(&["--offset".as_ref(), "3".as_ref()])));
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("hint: owners with a text in their names: --owner"), "{message}");
}
