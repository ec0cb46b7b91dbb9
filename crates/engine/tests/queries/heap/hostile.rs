//! Snapshots that are damaged, absent or immense.

use std::sync::Arc;

use memtrail_engine::{Description, Engine, InMemory, SnapshotFacts, SnapshotFile, Status};
use memtrail_heap::model::{Heap as Model, Made, Value as Field};
use memtrail_heap::read::Strength;
use memtrail_heap::write::LabelRole;
use memtrail_heap::{RootKind, tag};
use serde_json::json;

use super::{OFFLINE, heap, query, three, with_snapshots};
use crate::queries::recorded::api_error;

#[test]
fn of_what_is_not_in_a_page_there_is_the_summary() {
    let full = three();
    query(&full, r#"{"query":"heapstack","snapshot":1}"#);
    let bytes = heap(1, 10);
    let mut facts = SnapshotFacts::peek(&bytes).unwrap();
    let file = InMemory(bytes.as_slice().into());
    facts.summary = Some(memtrail_engine::summary(&file, &facts).unwrap());
    let json = serde_json::to_string(&facts).unwrap();
    let facts: SnapshotFacts = serde_json::from_str(&json).unwrap();
    let engine = with_snapshots(OFFLINE, &[heap(2, 20)]);
    assert!(engine.add_snapshot(memtrail_engine::RecordingId(0), facts.clone(), None));
    assert!(!engine.add_snapshot(memtrail_engine::RecordingId(0), facts, None), "it is there");
    let list = query(&engine, r#"{"query":"snapshots"}"#);
    assert_eq!(list["snapshots"][0]["included"], false);
    assert!(list["snapshots"][0]["live"].is_u64());
    let (_, error) = api_error(&engine, br#"{"query":"heaproots","snapshot":1}"#);
    assert!(error["message"].as_str().unwrap().contains("snapshot 1 is not in this file"));
    // The last one is the one that is there.
    query(&engine, r#"{"query":"heaproots"}"#);
    query(&engine, r#"{"query":"heapdiff","a":1,"b":2}"#);
}

#[test]
fn a_damaged_snapshot_is_told_and_the_others_go_on() {
    let mut broken = heap(1, 10);
    let end = broken.len() / 2;
    broken[end] ^= 0xff;
    let engine = with_snapshots(OFFLINE, &[broken, heap(2, 20)]);
    engine.query(br#"{"query":"heaproots","snapshot":1}"#);
    query(&engine, r#"{"query":"heaproots","snapshot":2}"#);
    let alone = Engine::new(OFFLINE);
    let id = alone.add_without_trace(Description::default());
    let file: Arc<dyn SnapshotFile> = Arc::new(InMemory(b"no snapshot".as_slice().into()));
    alone.add_snapshot(id, SnapshotFacts { number: 1, ..SnapshotFacts::default() }, Some(file));
    let (_, error) = api_error(&alone, br#"{"query":"heapchildren"}"#);
    assert!(error["message"].as_str().unwrap().starts_with("cannot read the snapshot"));
    assert_eq!(query(&alone, r#"{"query":"about"}"#)["recordings"][0]["trace"], false);
    let list = query(&alone, r#"{"query":"snapshots"}"#);
    assert!(list["snapshots"][0]["damage"].is_string());
}

#[test]
fn a_recording_without_snapshots_says_so() {
    let engine = with_snapshots(OFFLINE, &[]);
    let (status, error) = api_error(&engine, br#"{"query":"heaproots"}"#);
    assert_eq!(
        (status, &error["message"]),
        (Status::Unknown, &json!("the recording has no heap snapshots"))
    );
    assert_eq!(query(&engine, r#"{"query":"snapshots"}"#)["snapshots"], json!([]));
    assert_eq!(query(&engine, r#"{"query":"evolution"}"#)["of"], 0);
    assert_eq!(query(&engine, r#"{"query":"heapgrowth"}"#)["rows"], json!([]));
    api_error(&engine, br#"{"query":"heapdiff"}"#);
}

/// Whatever the names in a snapshot, and however many there are of everything.
#[test]
fn answers_have_a_bound_that_does_not_depend_on_the_snapshot() {
    let mut model = Model::new();
    let name = "long".repeat(100_000);
    let mut above = None;
    for number in 0..3000 {
        let text = if number % 100 == 0 { name.as_bytes() } else { b"short" };
        let kind = if number % 2 == 0 { RootKind::Stack } else { RootKind::Global };
        let part = if number % 2 == 0 { LabelRole::Frame } else { LabelRole::Unit };
        let label = model.labels.add(above.filter(|_| number % 3 == 0), kind, part, text, b"", 1);
        above = Some(label);
        // Each is of a kind of its own, and each holds the next.
        let closure = model.block(
            tag::CLOSURE,
            &[Field::Raw(number), Field::Raw(1 << 56 | 3 << 1 | 1), Field::Int(0)],
        );
        if number > 0 {
            model.set(closure, 2, Field::Block(Made(closure.0 - 1)));
        }
        model.root_at(label, Field::Block(closure), Strength::Strong, None);
    }
    let engine = with_snapshots(OFFLINE, &[model.bytes()]);
    for (text, most) in [
        (r#"{"query":"heaproots","limit":1000000}"#, 1_000_000),
        (r#"{"query":"heaproots","find":"o","limit":1000}"#, 1_000_000),
        (r#"{"query":"heapowners","limit":1000000}"#, 1_000_000),
        (r#"{"query":"heapowners","find":"o","limit":1000}"#, 1_000_000),
        (r#"{"query":"heapcontainers","limit":1000000}"#, 1_000_000),
        (r#"{"query":"heapjoint","limit":1000000}"#, 1_000_000),
        (r#"{"query":"heapstack"}"#, 2_000_000),
        (r#"{"query":"heapchildren","limit":1000000}"#, 8_000_000),
        (r#"{"query":"heapchildren","limit":1000}"#, 1_000_000),
        (r#"{"query":"heaphistogram","limit":1000}"#, 1_000_000),
        (r#"{"query":"heaptreemap","limit":1000000}"#, 4_000_000),
        (r#"{"query":"heapflame","limit":1000000}"#, 4_000_000),
        (r#"{"query":"heapblock","block":1500}"#, 1_000_000),
        (r#"{"query":"heappath","block":1500}"#, 1_000_000),
        (r#"{"query":"heappath","block":1500,"how":"disjoint","limit":1000}"#, 2_000_000),
        (r#"{"query":"evolution","by":"root","limit":1000000}"#, 1_000_000),
        (r#"{"query":"heapgrowth"}"#, 1_000_000),
    ] {
        let reply = engine.query(text.as_bytes());
        assert_eq!(reply.status, Status::Answered, "{text}");
        assert!(reply.bytes.len() <= most, "{text}: {} bytes", reply.bytes.len());
    }
}
