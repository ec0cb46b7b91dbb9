//! What fuzzing checks of the engine. Here rather than with the fuzz target, so that tests can
//! replay its corpus.

use std::sync::Arc;

use memtrail_heap::RootKind;
use memtrail_heap::model::{Heap, Value};
use memtrail_heap::read::Strength;

use crate::api_error::Status;
use crate::describe::Description;
use crate::engine::Engine;
use crate::heap::file::{InMemory, SnapshotFacts};
use crate::response_body::ResponseBody;
use crate::setting::Setting;

/// A recording with a heap snapshot to ask about.
///
/// # Panics
/// If `trace` is none.
pub fn engine(trace: &[u8]) -> Engine {
    let engine = Engine::new(Setting { live: false, offline: true });
    let id = engine.add(trace, Description::default(), &mut |_| ()).expect("a trace");
    let snapshot = snapshot();
    let facts = SnapshotFacts::peek(&snapshot).expect("a snapshot");
    engine.add_snapshot(id, facts, Some(Arc::new(InMemory(snapshot.into()))));
    engine
}

/// A list that a module holds, and a block that the trace knows.
fn snapshot() -> Vec<u8> {
    let mut heap = Heap::new();
    let text = heap.string(b"text");
    let last = heap.block(0, &[Value::Block(text), Value::Int(0)]);
    let first = heap.block(0, &[Value::Block(text), Value::Block(last)]);
    heap.root(RootKind::Global, "Feed", Value::Block(first), Strength::Strong);
    heap.sample(last, 0);
    heap.bytes()
}

/// Asks any bytes: no panic, and an answer or an error.
///
/// # Panics
/// If the engine is wrong.
pub fn query(engine: &Engine, query: &[u8]) {
    let response = engine.query(query);
    let answer = ResponseBody::decode(&response.bytes).expect("a slab");
    let is_error = answer.header().contains_key("error");
    let answered = matches!(response.status, Status::Answered | Status::Analysing);
    assert_eq!(is_error, !answered);
}

/// Reads any bytes as an answer: no panic, and what is one stays the same.
///
/// # Panics
/// If the reader is wrong.
pub fn answer(bytes: &[u8]) {
    if let Ok(answer) = ResponseBody::decode(bytes) {
        let again = ResponseBody::decode(&answer.encode()).expect("its own bytes");
        assert_eq!(again.header(), answer.header());
        assert_eq!(again.columns().count(), answer.columns().count());
    }
}
