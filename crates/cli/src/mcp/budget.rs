//! Cuts an answer until an assistant can read it: rows first, then long lists and texts within them.
//!
//! Figures stay as they are. Wherever rows or items are left out, a field beside them counts them.

use serde_json::{Map, Value};

use super::untrusted;

/// Bytes of an answer at most: 2,000 tokens, at three bytes each, as JSON with many digits has.
pub(super) const MAX_BYTES: usize = 6000;
/// Maximum length of a list that may be the figures of a row, such as those before and after a change.
const NUMBERS: usize = 4;

/// Lengths of what is inside an answer.
#[derive(Clone, Copy)]
struct Lengths {
    /// Characters of a text.
    text: usize,
    /// Items of a list that is not one of rows.
    items: usize,
    /// Rows that are kept.
    rows: usize,
}

/// From generous to stingy. The last fits every answer.
const LENGTHS: [Lengths; 6] = [
    Lengths { text: 300, items: 12, rows: 8 },
    Lengths { text: 200, items: 8, rows: 6 },
    Lengths { text: 120, items: 4, rows: 4 },
    Lengths { text: 80, items: 3, rows: 2 },
    Lengths { text: 40, items: 2, rows: 1 },
    Lengths { text: 20, items: 1, rows: 0 },
];
/// Rows of a list that are looked at.
const MAX_ROWS: usize = 100;

/// The size of a text for an assistant. A character outside ASCII may be a token of its own, or several.
pub(super) fn cost(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 4 }).sum()
}

/// Cuts an answer until `envelope` puts it into a text that is short enough. `rows` are the paths of its lists of rows.
pub(super) fn fit(answer: &Value, rows: &[&str], envelope: impl Fn(&Value) -> Value) -> Value {
    let cost_of = |answer: &Value| cost(&envelope(answer).to_string());
    for lengths in LENGTHS {
        let mut cut = answer.clone();
        for path in rows {
            keep_rows(&mut cut, path, MAX_ROWS);
        }
        shorten(&mut cut, rows, lengths);
        loop {
            let excess = cost_of(&cut).saturating_sub(MAX_BYTES);
            if excess == 0 {
                return envelope(&cut);
            }
            if !drop_rows(&mut cut, rows, lengths.rows, excess) {
                break;
            }
        }
    }
    let mut none = Map::new();
    none.insert("left_out_to_fit".to_owned(), "everything: ask for fewer rows".into());
    envelope(&Value::Object(none))
}

/// Drops rows at the ends of lists, from the longest first, until about this much is saved. Returns false if no list is
/// longer than `least`.
fn drop_rows(answer: &mut Value, rows: &[&str], least: usize, excess: usize) -> bool {
    let mut lists: Vec<(&str, Vec<usize>)> = rows
        .iter()
        .filter_map(|path| {
            let list = answer.pointer(path)?.as_array()?;
            Some((*path, list.iter().map(|row| cost(&row.to_string())).collect()))
        })
        .collect();
    let (mut saved, mut dropped) = (0, false);
    while saved < excess
        && let Some((_, costs)) = lists.iter_mut().max_by_key(|(_, costs)| costs.len())
        && costs.len() > least
    {
        saved += costs.pop().unwrap_or(0);
        dropped = true;
    }
    for (path, costs) in lists {
        keep_rows(answer, path, costs.len());
    }
    dropped
}

/// The field that counts what is left out of a list.
fn counter(list: &str) -> String {
    format!("{list}_left_out_to_fit")
}

fn keep_rows(answer: &mut Value, path: &str, most: usize) {
    let Some((above, name)) = path.rsplit_once('/') else { return };
    let Some(Value::Object(above)) = answer.pointer_mut(above) else { return };
    keep_first(above, name, most);
}

fn keep_first(of: &mut Map<String, Value>, name: &str, most: usize) {
    let Some(Value::Array(list)) = of.get_mut(name) else { return };
    let left_out = list.len().saturating_sub(most);
    if left_out == 0 {
        return;
    }
    list.truncate(most);
    let count = of.entry(counter(name)).or_insert_with(|| 0.into());
    *count = (count.as_u64().unwrap_or(0) + left_out as u64).into();
}

/// Shortens texts, and lists other than those of rows. Fields without a value go.
fn shorten(value: &mut Value, rows: &[&str], lengths: Lengths) {
    shorten_at(value, "", rows, lengths);
}

fn shorten_at(value: &mut Value, path: &str, rows: &[&str], lengths: Lengths) {
    match value {
        Value::String(text) => *text = untrusted::bounded(text, lengths.text),
        Value::Array(list) => {
            for item in list {
                // Pointers to lists of rows have no indices.
                shorten_at(item, "/*", rows, lengths);
            }
        }
        Value::Object(fields) => {
            fields.retain(|_, value| !is_void(value, lengths));
            // Allocators of the steps of a path are found by their place among all steps.
            if fields
                .get("shape")
                .and_then(Value::as_array)
                .is_some_and(|shape| shape.len() > lengths.items)
            {
                fields.remove("allocated");
            }
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                let below = format!("{path}/{name}");
                if !rows.contains(&below.as_str()) {
                    shorten_list(fields, &name, lengths.items);
                }
                if let Some(value) = fields.get_mut(&name) {
                    shorten_at(value, &below, rows, lengths);
                }
            }
        }
        _ => {}
    }
}

/// True for what says nothing, and for many numbers, of which some alone say nothing.
fn is_void(value: &Value, lengths: Lengths) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) if list.is_empty() => true,
        Value::Array(list) => {
            let most = lengths.items.max(NUMBERS);
            list.len() > most && list.iter().all(Value::is_number)
        }
        _ => false,
    }
}

/// Keeps both ends of a list of names, such as a path, and the first items of others.
fn shorten_list(of: &mut Map<String, Value>, name: &str, most: usize) {
    let Some(Value::Array(list)) = of.get_mut(name) else { return };
    let (count, most) = (list.len(), most.max(1));
    if count <= most || list.iter().all(Value::is_number) {
        return;
    }
    if list.iter().all(Value::is_string) && most > 1 {
        let (first, last) = (most - most / 2, most / 2);
        let middle = format!("… {} more …", count - most);
        list.splice(first..count - last, [Value::String(middle)]);
        return;
    }
    keep_first(of, name, most);
}

#[cfg(test)]
mod tests {
    use proptest::collection::{hash_map, vec};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn wrapped(answer: &Value) -> Value {
        json!({ "next": [], untrusted::FIELD: answer })
    }

    fn fitted(answer: &Value, rows: &[&str]) -> Value {
        fit(answer, rows, wrapped)[untrusted::FIELD].clone()
    }

    #[test]
    fn a_small_answer_stays_as_it_is() {
        let answer =
            json!({ "left_out": 0, "rows": [{ "name": "a", "bytes": [1, 2] }], "owned": 1.5 });
        assert_eq!(fitted(&answer, &["/rows"]), answer);
    }

    #[test]
    fn rows_that_do_not_fit_are_counted() {
        let row = |n: u64| json!({ "name": format!("Module_{n}.function"), "bytes": n });
        let rows: Vec<Value> = (0..1000).map(row).collect();
        let found = fitted(&json!({ "left_out": 7, "rows": rows }), &["/rows"]);
        let kept = found["rows"].as_array().unwrap().len();
        assert!((50..=MAX_ROWS).contains(&kept), "{kept}");
        assert_eq!(found["rows"][0], row(0));
        assert_eq!(found["rows_left_out_to_fit"], 1000 - kept);
        assert_eq!(found["left_out"], 7);
    }

    #[test]
    fn paths_keep_both_ends() {
        let steps: Vec<String> = (0..40).map(|n| format!("step {n}")).collect();
        let found = fitted(&json!({ "paths": [{ "shape": steps }] }), &["/paths"]);
        let shape = found["paths"][0]["shape"].as_array().unwrap();
        assert_eq!((shape.len(), &shape[0], &shape[12]), (13, &json!("step 0"), &json!("step 39")));
        assert_eq!(shape[6], "… 28 more …");
    }

    #[test]
    fn a_series_of_numbers_stays_whole_or_goes() {
        let found = fitted(&json!({ "few": [1, 2, 3], "many": vec![0; 13] }), &[]);
        assert_eq!(found, json!({ "few": [1, 2, 3] }));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<f64>().prop_map(|n| json!(n)),
            "\\PC{0,80}".prop_map(Value::String),
            "[a-z\u{202e}\u{4e00}]{0,500}".prop_map(Value::String),
            Just(Value::Null),
        ];
        leaf.prop_recursive(5, 60, 10, |inner| {
            let fields = hash_map("[a-z]{1,12}", inner.clone(), 0..12);
            prop_oneof![
                vec(inner, 0..20).prop_map(Value::Array),
                fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_answer_fits(rows in vec(values(), 0..30), other in values()) {
            let answer = json!({ "rows": rows, "other": other });
            let text = fit(&answer, &["/rows"], wrapped).to_string();
            prop_assert!(cost(&text) <= MAX_BYTES, "{}", cost(&text));
            prop_assert!(!text.contains('\u{202e}'), "hidden characters");
        }
    }
}
