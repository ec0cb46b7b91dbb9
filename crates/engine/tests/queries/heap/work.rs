//! When snapshots are analysed, and by whom.

use std::sync::Arc;

use memtrail_engine::{
    Description, InMemory, ResponseBody, Setting, SnapshotFacts, SnapshotFile, Status,
};
use serde_json::json;

use super::{heap, query, with_snapshots};
use crate::queries::recorded::api_error;

#[test]
fn an_ask_of_what_is_not_analysed_says_so_until_somebody_has_worked() {
    let engine = with_snapshots(Setting::default(), &[heap(1, 10), heap(2, 20)]);
    let text = br#"{"query":"heaproots","snapshot":1}"#;
    for _ in 0..2 {
        let reply = engine.query(text);
        assert_eq!(reply.status, Status::Analysing);
        let answer = ResponseBody::decode(&reply.bytes).unwrap();
        assert_eq!(answer.header()["analysing"]["snapshot"], 1);
    }
    let (id, done) = engine.work().unwrap();
    assert_eq!((id.0, done.number, done.ready, done.of), (0, 1, 1, 2));
    assert_eq!(engine.work(), None, "nobody has asked for the other");
    assert_eq!(engine.query(text).status, Status::Answered);

    let evolution = query(&engine, r#"{"query":"evolution"}"#);
    assert_eq!((&evolution["ready"], &evolution["of"]), (&json!(1), &json!(2)));
    assert_eq!(engine.work().unwrap().1.ready, 2);
    assert_eq!(engine.work(), None);
    let evolution = query(&engine, r#"{"query":"evolution"}"#);
    assert_eq!(evolution["snapshots"], json!([1, 2]));
}

#[test]
fn what_somebody_waits_for_is_analysed_before_the_summaries_of_another_recording() {
    let engine = with_snapshots(Setting::default(), &[heap(1, 10), heap(2, 20)]);
    let other = engine.add_without_trace(Description::default());
    let bytes = heap(7, 10);
    let facts = SnapshotFacts::peek(&bytes).unwrap();
    engine.add_snapshot(other, facts, Some(Arc::new(InMemory(bytes.into()))));
    query(&engine, r#"{"query":"evolution"}"#);
    assert_eq!(engine.query(br#"{"query":"heapstack","rec":1}"#).status, Status::Analysing);
    assert_eq!(engine.work().unwrap().0, other);
    assert_eq!(engine.work().unwrap().1.number, 1);
}

/// A file that makes whoever reads it panic.
#[derive(Debug)]
struct Trap;

impl SnapshotFile for Trap {
    fn open(&self) -> std::io::Result<memtrail_engine::Bytes> {
        panic!("on purpose")
    }
}

#[test]
fn a_panic_of_an_analysis_is_the_end_of_that_snapshot_alone() {
    let engine = with_snapshots(Setting::default(), &[heap(1, 10)]);
    let facts = SnapshotFacts { number: 2, ..SnapshotFacts::default() };
    engine.add_snapshot(memtrail_engine::RecordingId(0), facts, Some(Arc::new(Trap)));
    engine.query(br#"{"query":"heapstack","snapshot":2}"#);
    let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| engine.work()));
    assert!(worked.is_err());
    let (_, error) = api_error(&engine, br#"{"query":"heapstack","snapshot":2}"#);
    assert_eq!(error["message"], "the analysis of the snapshot failed");
    engine.query(br#"{"query":"heapstack","snapshot":1}"#);
    assert_eq!(engine.work().unwrap().1.number, 1);
}

#[test]
fn waiting_for_work_ends_when_there_may_be_some() {
    let engine = Arc::new(with_snapshots(Setting::default(), &[heap(1, 10)]));
    let worker = Arc::clone(&engine);
    let worker = std::thread::spawn(move || {
        let mut count = 0;
        loop {
            if let Some(done) = worker.work() {
                return done;
            }
            count = worker.wait_for_analysis(count);
        }
    });
    assert_eq!(engine.query(br#"{"query":"heapstack"}"#).status, Status::Analysing);
    assert_eq!(worker.join().unwrap().1.number, 1);
}
