//! Asks and traces that somebody made up.

use memtrail_engine::{Setting, Status};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::queries::heap::{heap, with_snapshots};
use crate::queries::recorded::{answer, api_error, engine, fixture};

#[test]
fn asks_that_make_no_sense_are_refused_with_the_reason() {
    let engine = engine(&[&fixture("cache-v2.ctf")]);
    for (query, status, message) in [
        (json!({ "query": "flame", "rec": 7 }), Status::Unknown, "no recording 7, there are 1"),
        (json!({ "query": "table", "filter": ["size:4X"] }), Status::Bad, "unexpected"),
        (json!({ "query": "table", "filter": ["-heap:minor,major,external"] }), Status::Bad, ""),
        (json!({ "query": "search", "text": "(", "regex": true }), Status::Bad, "no regular"),
        (json!({ "query": "search", "text": "x".repeat(5000) }), Status::Bad, "5000 bytes"),
        (json!({ "query": "compare", "a": {}, "b": { "rec": 1 } }), Status::Unknown, "recording 1"),
        (json!({ "query": "flame", "filter": vec!["live:end"; 65] }), Status::Bad, "more than 64"),
    ] {
        let (got, error) = api_error(&engine, query.to_string().as_bytes());
        let text = error["message"].as_str().unwrap();
        assert!(got == status && text.contains(message), "{query}: {text}");
    }
}

#[test]
fn numbers_beyond_all_sense_are_taken_for_the_nearest_that_makes_some() {
    let engine = engine(&[&fixture("cache-v2.ctf")]);
    let huge = u64::MAX;
    for query in [
        json!({ "query": "overview", "points": huge, "from": -1e300, "to": 1e300 }),
        json!({ "query": "overview", "points": 0, "from": 5.0, "to": 1.0 }),
        json!({ "query": "flame", "limit": huge, "cutoff": -1.0, "direction": "both" }),
        json!({ "query": "flame", "limit": 0, "cutoff": 1e300 }),
        json!({ "query": "table", "offset": huge, "limit": huge }),
        json!({ "query": "compare", "offset": huge, "limit": huge, "cutoff": -5.0 }),
        json!({ "query": "compare", "view": "flame", "limit": huge, "cutoff": 0.0 }),
        json!({ "query": "names", "entities": [u32::MAX, 0, 1] }),
        json!({ "query": "complete", "limit": huge }),
        json!({ "query": "presets", "from": 1e300, "to": -1e300 }),
        json!({ "query": "branches", "path": [], "direction": "callees" }),
        json!({ "query": "branches", "path": ["<allocations>"], "limit": huge }),
        json!({ "query": "branches", "path": ["<toplevel>", "nowhere"] }),
    ] {
        answer(&engine, &query);
    }
}

/// Asks of all kinds, with fields that mostly exist and values that mostly make sense.
fn query() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "about",
        "overview",
        "flame",
        "names",
        "table",
        "branches",
        "hotfragments",
        "density",
        "search",
        "compare",
        "presets",
        "complete",
        "conditions",
        "export",
        "snapshots",
        "evolution",
        "heapgrowth",
        "heaproots",
        "heaphistogram",
        "heapchildren",
        "heaptreemap",
        "heapflame",
        "heapblock",
        "heappath",
        "heapstack",
        "heapshared",
        "heapstrings",
        "heapdiff",
        "heapsamples",
    ]);
    let field = prop::sample::select(vec![
        "rec",
        "filter",
        "points",
        "from",
        "to",
        "focus",
        "cutoff",
        "limit",
        "direction",
        "entities",
        "by",
        "sort",
        "descending",
        "find",
        "offset",
        "path",
        "text",
        "regex",
        "a",
        "b",
        "view",
        "kind",
        "texts",
        "format",
        "snapshot",
        "node",
        "block",
        "under",
        "depth",
        "how",
        "min",
    ]);
    let value = prop::sample::select(vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(1e18),
        json!(0.5),
        json!([]),
        json!([0, 1, 70_000]),
        json!(["live:end"]),
        json!(["<toplevel>"]),
        json!(["<allocations>"]),
        json!("site"),
        json!("callers"),
        json!("both"),
        json!("module"),
        json!("flame"),
        json!(true),
        json!("a"),
        json!("["),
        json!({ "rec": 0, "filter": ["live:peak"] }),
        json!("svg"),
        json!(["in:~a", "hide:~b"]),
        json!("kind:global"),
        json!("label:1"),
        json!("block:3"),
        json!("group:all/tag 0, 2 fields"),
        json!("string"),
        json!("retained"),
        json!("disjoint"),
    ]);
    (kind, prop::collection::btree_map(field, value, 0..5)).prop_map(|(kind, fields)| {
        let mut query = json!(fields);
        query["query"] = json!(kind);
        query
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_asked_there_is_an_answer_or_an_error(queries in prop::collection::vec(query(), 64)) {
        let offline = Setting { live: false, offline: true };
        let engine = with_snapshots(offline, &[heap(1, 3), heap(2, 5)]);
        for query in queries {
            let reply = engine.query(query.to_string().as_bytes());
            let answer = memtrail_engine::ResponseBody::decode(&reply.bytes).unwrap();
            let is_error = answer.header().contains_key("error");
            prop_assert_eq!(reply.status == Status::Answered, !is_error, "{}", query);
        }
    }
}
