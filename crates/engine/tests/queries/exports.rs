//! Exports hold what the page shows.

use serde_json::{Value, json};

use crate::queries::recorded::{answer, api_error, column, engine, fixture, is, traces};

fn bytes(engine: &memtrail_engine::Engine, query: &Value) -> Vec<u8> {
    answer(engine, query).bytes("bytes").unwrap().to_vec()
}

#[test]
fn every_format_of_every_trace() {
    for (name, trace) in traces() {
        let engine = engine(&[&trace]);
        for format in ["folded", "speedscope", "pprof", "firefox", "json", "svg"] {
            let query = json!({ "query": "export", "format": format, "filter": ["live:end"] });
            let answer = answer(&engine, &query);
            assert!(!answer.header()["filename"].as_str().unwrap().contains('/'), "{name}");
            if let "json" | "speedscope" | "firefox" = format {
                let _: Value = serde_json::from_slice(&bytes(&engine, &query)).unwrap();
            }
        }
    }
}

#[test]
fn a_focus_keeps_the_paths_that_have_it() {
    let engine = engine(&[&fixture("cache-v2.ctf")]);
    let table = answer(&engine, &json!({ "query": "table", "limit": 40 }));
    let rows = table.header()["rows"].as_array().unwrap();
    for (row, total) in rows.iter().zip(column(&table, "total")) {
        let query = json!({ "query": "export", "format": "json", "focus": [row["key"]] });
        let file: Value = serde_json::from_slice(&bytes(&engine, &query)).unwrap();
        assert!(is(&file["total"]["allocated_bytes"], total), "{row}");
    }
    for focus in [json!(["<toplevel>"]), json!(["<allocations>"])] {
        let query = json!({ "query": "export", "format": "json", "focus": focus });
        let file: Value = serde_json::from_slice(&bytes(&engine, &query)).unwrap();
        let all = json!({ "query": "export", "format": "json" });
        let all: Value = serde_json::from_slice(&bytes(&engine, &all)).unwrap();
        assert_eq!(file["total"], all["total"], "{focus}");
    }
    let nothing = json!({ "query": "export", "format": "folded", "focus": ["nowhere"] });
    assert_eq!(bytes(&engine, &nothing), b"");
}

#[test]
fn a_picture_has_the_heaviest_functions_in_it() {
    let engine = engine(&[&fixture("cache-v2.ctf")]);
    let table = answer(&engine, &json!({ "query": "table", "limit": 1 }));
    let heaviest = table.header()["rows"][0]["key"].as_str().unwrap().to_owned();
    let picture = bytes(&engine, &json!({ "query": "export", "format": "svg" }));
    let picture = String::from_utf8(picture).unwrap();
    assert!(picture.contains(&heaviest), "{heaviest}");
}

#[test]
fn formats_that_do_not_exist_are_refused_with_those_that_do() {
    let engine = engine(&[&fixture("cache-v2.ctf")]);
    let (_, error) = api_error(&engine, br#"{"query":"export","format":"pdf"}"#);
    assert_eq!(error["message"], "no format \"pdf\"");
    assert!(error["hint"].as_str().unwrap().contains("pprof"));
}
