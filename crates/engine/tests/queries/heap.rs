//! Asks of heap snapshots.

mod hostile;
mod over_time;
mod roots;
mod tree;
mod work;

use std::sync::Arc;

use memtrail_engine::{Description, Engine, InMemory, Setting, SnapshotFacts, SnapshotFile};
use memtrail_heap::model::{Made, Value as Field};
use memtrail_test_support::models::Feed;
use serde_json::Value;

use crate::queries::recorded::{answer, fixture};

/// A heap with a list of `cells` strings that a module holds, a table that a frame and the module
/// share, and a custom block with 4096 bytes outside.
pub(crate) fn heap(number: u64, cells: usize) -> Vec<u8> {
    let mut feed = Feed::new(number);
    feed.heap.facts.number = number;
    feed.heap.facts.taken_at = 1_000_000_000 * number;
    let mut list: Option<Made> = None;
    for cell in 0..cells {
        let text = feed.text(cell);
        let next = list.map_or(Field::Int(0), Field::Block);
        list = Some(feed.heap.block(0, &[Field::Block(text), next]));
    }
    let custom = feed.custom();
    let table = feed.heap.block(0, &[Field::Block(custom); 40]);
    if let Some(list) = list {
        feed.root(feed.field, list);
        feed.heap.sample(list, 0);
    }
    for label in [feed.field, feed.frame] {
        feed.root(label, table);
    }
    feed.heap.sample(table, 1);
    feed.heap.bytes()
}

/// An engine with a recording that has these snapshots, and their numbers from 1 on.
pub(crate) fn with_snapshots(setting: Setting, heaps: &[Vec<u8>]) -> Engine {
    let engine = Engine::new(setting);
    let id = engine.add(&fixture("cache-v2.ctf"), Description::default(), &mut |_| ()).unwrap();
    for bytes in heaps {
        let facts = SnapshotFacts::peek(bytes).unwrap();
        let file: Arc<dyn SnapshotFile> = Arc::new(InMemory(bytes.as_slice().into()));
        assert!(engine.add_snapshot(id, facts, Some(file)));
    }
    engine
}

pub(super) const OFFLINE: Setting = Setting { live: false, offline: true };

fn three() -> Engine {
    with_snapshots(OFFLINE, &[heap(1, 10), heap(2, 20), heap(3, 40)])
}

fn query(engine: &Engine, text: &str) -> Value {
    let query: Value = serde_json::from_str(text).unwrap();
    Value::Object(answer(engine, &query).header().clone())
}

fn bytes(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no size"))
}
