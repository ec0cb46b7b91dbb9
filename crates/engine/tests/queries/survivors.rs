//! What survived from one snapshot to another, of heaps and a trace that are known block by block.

use std::sync::Arc;

use memtrail_engine::query::HeapSurvivors;
use memtrail_engine::{
    Description, Engine, InMemory, RecordingId, Setting, SnapshotFacts, SnapshotFile,
};
use memtrail_test_support::models::Feed;
use memtrail_test_support::traces::{START, Spec, write};
use serde_json::{Value, json};

use crate::queries::recorded::{answer, api_error};

/// A heap in which a module holds blocks with these numbers of the trace, and nothing holds those of `dead`.
fn heap(number: u64, alive: &[u64], dead: &[u64]) -> Vec<u8> {
    let mut feed = Feed::new(number);
    feed.heap.facts.number = number;
    feed.heap.facts.taken_at = (START + number * 1_000_000) * 1000;
    for (ids, is_alive) in [(alive, true), (dead, false)] {
        for id in ids {
            let block = feed.text(*id as usize);
            feed.heap.sample(block, *id);
            if is_alive {
                feed.root(feed.field, block);
            }
        }
    }
    feed.heap.bytes()
}

/// Blocks 0 to 4, of three sites, with 1, 2, 4, 8 and 16 samples; a snapshot each second.
fn engine(heaps: &[Vec<u8>]) -> Engine {
    let specs: Vec<Spec> =
        [(100_000, 1), (200_000, 1), (300_000, 2), (1_500_000, 2), (1_600_000, 3)]
            .into_iter()
            .zip(0..)
            .map(|((allocated, code), power)| Spec {
                length: 100,
                samples: 1 << power,
                ..Spec::at(allocated, &[9, code])
            })
            .collect();
    let trace = write(1.0, &specs, |code| {
        let name = ["", "Page.make", "Page.copy", "Log.line"].get(code as usize).copied();
        vec![(name.unwrap_or("Main.run"), "page.ml", code as u32)]
    });
    let engine = Engine::new(Setting { live: false, offline: true });
    let id = engine.add(&trace, Description::default(), &mut |_| ()).unwrap();
    for bytes in heaps {
        let facts = SnapshotFacts::peek(bytes).unwrap();
        let file: Arc<dyn SnapshotFile> = Arc::new(InMemory(bytes.as_slice().into()));
        assert!(engine.add_snapshot(id, facts, Some(file)));
    }
    engine
}

fn ask(engine: &Engine, query: &Value) -> Value {
    Value::Object(answer(engine, query).header().clone())
}

/// Bytes, sampled blocks.
fn estimate(of: &Value) -> (f64, u64) {
    (of["bytes"]["value"].as_f64().unwrap(), of["sampled"].as_u64().unwrap())
}

#[test]
fn each_block_survives_is_freed_or_is_added() {
    // Block 4 is in the second snapshot, but nothing holds it; 77 is in no trace.
    let engine = engine(&[heap(1, &[0, 1, 2], &[]), heap(2, &[0, 2, 3, 77], &[1, 4])]);
    let all = ask(&engine, &json!({"query": "heapsurvivors", "by": "function"}));
    assert_eq!([&all["from"], &all["to"], &all["unknown"]], [&json!(1), &json!(2), &json!(1)]);
    assert_eq!([&all["from_at"], &all["to_at"]], [&json!(1.0), &json!(2.0)]);
    // At rate 1 a sample is a word of eight bytes.
    assert_eq!(estimate(&all["survived"]), (8.0 * 5.0, 2));
    assert_eq!(estimate(&all["freed"]), (8.0 * 2.0, 1));
    assert_eq!(estimate(&all["added"]), (8.0 * 8.0, 1));

    let rows = all["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &all["count"]), (2, &json!(2)));
    let figures =
        |row: &Value| ["survived", "freed", "added"].map(|name| estimate(&row[name]).0 as u64 / 8);
    assert_eq!([&rows[0]["name"], &rows[1]["name"]], ["Page.copy", "Page.make"]);
    assert_eq!([figures(&rows[0]), figures(&rows[1])], [[4, 0, 8], [1, 2, 0]]);
    assert_eq!(rows[0]["survival"], json!(1.0));
    assert!((rows[1]["survival"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9);
    // When what survived had been allocated.
    assert_eq!(rows[0]["survived"]["allocated"], json!([0.3, 0.3, 0.3]));

    let first = |order: &str| {
        let query = json!({"query": "heapsurvivors", "by": "function", "order": order, "limit": 1});
        let answer = ask(&engine, &query);
        assert_eq!(answer["count"], json!(2));
        answer["rows"][0]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(["survived", "added", "oldest"].map(first), ["Page.copy", "Page.copy", "Page.make"]);
}

#[test]
fn sums_are_those_of_the_sites_of_each_snapshot() {
    let heaps = [heap(1, &[0, 1, 2], &[]), heap(2, &[1, 3], &[0]), heap(3, &[1, 3, 4], &[])];
    let engine = engine(&heaps);
    for (from, to) in [(1, 2), (1, 3), (2, 3)] {
        let of = ask(&engine, &json!({"query": "heapsurvivors", "from": from, "to": to}));
        let alive = |snapshot: u64| {
            let sites = ask(&engine, &json!({"query": "heapsamples", "snapshot": snapshot}));
            sites["alive"]["value"].as_f64().unwrap()
        };
        let [survived, freed, added] =
            ["survived", "freed", "added"].map(|name| estimate(&of[name]).0);
        assert!((survived + freed - alive(from)).abs() < 1e-6, "{from} {to}");
        assert!((survived + added - alive(to)).abs() < 1e-6, "{from} {to}");
    }
}

#[test]
fn two_snapshots_are_needed_in_their_order() {
    let one = engine(&[heap(1, &[0], &[])]);
    let (_, error) = api_error(&one, br#"{"query":"heapsurvivors"}"#);
    assert_eq!(error["message"], "two snapshots are needed, there is one");
    let two = engine(&[heap(1, &[0], &[]), heap(2, &[0], &[])]);
    let (_, error) = api_error(&two, br#"{"query":"heapsurvivors","from":2,"to":1}"#);
    assert_eq!(error["message"], "snapshot 2 is not before snapshot 1");
    let (_, error) = api_error(&two, br#"{"query":"heapsurvivors","from":7}"#);
    assert_eq!(error["message"], "no snapshot 7");
    assert!(two.heap_survivors(&HeapSurvivors { rec: 3, ..HeapSurvivors::default() }).is_err());
    assert!(two.owner_changes(RecordingId(3)).is_err());
}
