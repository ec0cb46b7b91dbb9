//! Blocks without a type are named by the samples in retaining paths, joint shares and merged paths.

use std::sync::Arc;

use memtrail_engine::{Description, Engine, InMemory, Setting, SnapshotFacts, SnapshotFile};
use memtrail_heap::BlockIndex;
use memtrail_heap::model::Value as Field;
use memtrail_heap::read::{Columns, Snapshot};
use memtrail_test_support::models::Feed;
use memtrail_test_support::traces::{Spec, write};
use serde_json::{Value, json};

use crate::queries::recorded::answer;

/// Pages that were sampled, of one more.
const SAMPLED: u64 = 7;
const PAGE: &str = "tag 2, 3 fields";

/// A module and a frame hold pages, each with a text. All but the last were sampled.
fn heap() -> Vec<u8> {
    let mut feed = Feed::new(1);
    feed.heap.facts.number = 1;
    for id in 0..=SAMPLED {
        let text = feed.text(id as usize);
        let page = feed.heap.block(2, &[Field::Int(1), Field::Block(text), Field::Int(2)]);
        for label in [feed.field, feed.frame] {
            feed.root(label, page);
        }
        if id < SAMPLED {
            feed.heap.sample(page, id);
        }
    }
    feed.heap.bytes()
}

fn engine(heap: &[u8]) -> Engine {
    let specs: Vec<Spec> = (0..SAMPLED)
        .map(|id| Spec { length: 3, samples: 1, ..Spec::at(100_000 * (id + 1), &[9, 1]) })
        .collect();
    let trace = write(1.0, &specs, |code| {
        let name = if code == 1 { "Page.make" } else { "Main.run" };
        vec![(name, "page.ml", code as u32)]
    });
    let engine = Engine::new(Setting { live: false, offline: true });
    let id = engine.add(&trace, Description::default(), &mut |_| ()).unwrap();
    let file: Arc<dyn SnapshotFile> = Arc::new(InMemory(heap.into()));
    assert!(engine.add_snapshot(id, SnapshotFacts::peek(heap).unwrap(), Some(file)));
    engine
}

fn ask(engine: &Engine, query: &Value) -> Value {
    Value::Object(answer(engine, query).header().clone())
}

fn rows<'v>(of: &'v Value, name: &str) -> &'v [Value] {
    of[name].as_array().unwrap_or_else(|| panic!("no {name} in {of:#}"))
}

fn check(allocated: &Value) {
    assert_eq!(allocated["name"], "Page.make", "{allocated}");
    assert_eq!([&allocated["samples"], &allocated["of"]], [SAMPLED, SAMPLED], "{allocated}");
}

/// The blocks that are the texts of pages.
fn texts(heap: &[u8]) -> Vec<u32> {
    let snapshot = Snapshot::read(heap).unwrap();
    let mut columns = Columns::new();
    let mut texts = Vec::new();
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns).unwrap();
        texts.extend(columns.iter().filter(|block| block.tag == 2).map(|page| page.targets[0]));
    }
    texts
}

#[test]
fn steps_of_paths_are_named_by_samples() {
    let heap = heap();
    let engine = engine(&heap);
    let texts = texts(&heap);
    assert_eq!(texts.len() as u64, SAMPLED + 1);
    for text in texts {
        let block = BlockIndex(text);
        for how in ["shortest", "disjoint"] {
            let query = json!({"query": "heappath", "block": block, "how": how});
            let found = ask(&engine, &query);
            for path in rows(&found, "paths") {
                let steps = rows(path, "steps");
                let page = steps.iter().find(|step| step["name"] == PAGE).unwrap();
                check(&page["allocated"]);
                let others = steps.iter().filter(|step| step["name"] != PAGE);
                assert!(others.into_iter().all(|step| step["allocated"].is_null()), "{path:#}");
            }
        }
        let all = ask(&engine, &json!({"query": "heapblock", "block": block}));
        check(&rows(&all, "path").iter().rev().nth(1).unwrap()["allocated"]);
    }
    let merged = ask(&engine, &json!({"query": "heappath", "kind": PAGE}));
    check(&rows(&rows(&merged, "paths")[0], "steps").last().unwrap()["allocated"]);
}

#[test]
fn blocks_that_are_retained_jointly_are_named_by_samples() {
    let heap = heap();
    let engine = engine(&heap);
    let shares = ask(&engine, &json!({"query": "heapjoint", "limit": 10}));
    let share = rows(&shares, "rows").iter().find(|row| row["opens"] == true).unwrap();
    let blocks = ask(&engine, &json!({"query": "heapjoint", "limit": 20, "under": share["node"]}));
    let pages: Vec<&Value> =
        rows(&blocks, "rows").iter().filter(|row| row["name"] == PAGE).collect();
    assert_eq!(pages.len() as u64, SAMPLED + 1, "{blocks:#}");
    for page in pages {
        check(&page["allocated"]);
    }
}

#[test]
fn merged_paths_have_the_names_of_most_blocks() {
    let heap = heap();
    let engine = engine(&heap);
    let why = ask(&engine, &json!({"query": "heapwhy", "name": "Page.make", "limit": 5}));
    let paths = rows(&why, "paths");
    assert!(!paths.is_empty());
    for path in paths {
        let allocated = rows(path, "allocated");
        assert_eq!(allocated.len(), rows(path, "shape").len(), "{path:#}");
        check(allocated.last().unwrap());
    }
}
