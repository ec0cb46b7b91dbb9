//! A recording that grows says the same, in the end, as one that is there as a whole.

use memtrail_engine::{Description, Engine, Setting};
use serde_json::{Map, Value, json};

use crate::queries::recorded::{answer, api_error, engine, traces};

/// Entities are numbered as they come, so what comes in pieces has other numbers; these also decide
/// between what weighs the same.
fn without_numbers(header: &Map<String, Value>) -> Value {
    let mut header = Value::Object(header.clone());
    for list in ["rows", "functions", "paths"] {
        let Some(rows) = header.get_mut(list).and_then(Value::as_array_mut) else { continue };
        for row in rows.iter_mut() {
            row["entity"].take();
        }
        if list != "rows" {
            rows.sort_by_cached_key(ToString::to_string);
        }
    }
    header
}

#[test]
fn growing_in_pieces_ends_as_the_whole() {
    for (name, trace) in traces() {
        let whole = engine(&[&trace]);
        let grown = Engine::new(Setting { live: true, offline: false });
        let id = grown.add_growing(Description::default(), None);
        // Before anything is there, queries have responses.
        answer(&grown, &json!({ "query": "about" }));
        answer(&grown, &json!({ "query": "flame", "filter": ["live:peak"] }));
        let (mut there, mut events) = (0, 0);
        while there < trace.len() {
            there = trace.len().min(there + 10_007);
            let tail = &trace[grown.offset(id) as usize..there];
            if let Some(more) = grown.grow(id, tail) {
                assert!(more.events >= events, "{name}");
                events = more.events;
                answer(&grown, &json!({ "query": "table", "filter": ["live:end"] }));
            }
        }
        grown.finish(id, &trace[grown.offset(id) as usize..]).unwrap();
        for query in [
            json!({ "query": "overview", "filter": ["live:end"] }),
            json!({ "query": "table", "limit": 1000 }),
            json!({ "query": "density" }),
            json!({ "query": "hotfragments" }),
        ] {
            let (grown, whole) = (answer(&grown, &query), answer(&whole, &query));
            assert_eq!(without_numbers(grown.header()), without_numbers(whole.header()), "{name}");
            for (column, cells) in whole.columns() {
                assert_eq!(grown.column(column), Some(cells), "{name}: {query} {column}");
            }
        }
    }
}

#[test]
fn what_grows_is_described_anew() {
    let engine = Engine::new(Setting { live: true, offline: false });
    let id = engine.add_growing(Description::default(), None);
    let outcome = Some("killed by signal 9".to_owned());
    engine.describe(id, Description { name: "new".into(), outcome, ..Description::default() });
    let about = answer(&engine, &json!({ "query": "about" }));
    assert_eq!(about.header()["recordings"][0]["outcome"], "killed by signal 9");
    assert_eq!(about.header()["live"], true);
    assert!(engine.finish(id, b"no trace").is_err());
    api_error(&engine, br#"{"query":"overview","rec":1}"#);
}
