//! Several snapshots: what there is, and what changed.

use memtrail_heap::RootKind;
use memtrail_heap::model::{Heap as Model, Value as Field};
use memtrail_heap::read::Strength;
use memtrail_heap::write::Space;
use serde_json::{Value, json};

use super::{OFFLINE, bytes, heap, query, three, with_snapshots};
use crate::queries::recorded::api_error;

#[test]
fn snapshots_are_listed_with_what_is_known_of_them() {
    let engine = three();
    let about = query(&engine, r#"{"query":"about"}"#);
    assert_eq!(about["recordings"][0]["snapshots"], 3);
    assert_eq!(about["recordings"][0]["trace"], true);
    assert_eq!(about["recordings"][0]["can_snapshot"], false);
    let list = query(&engine, r#"{"query":"snapshots"}"#);
    assert_eq!(list["can_take"], false);
    let first = &list["snapshots"][0];
    assert_eq!((&first["number"], &first["major"]), (&json!(1), &json!(1)));
    assert_eq!((&first["live"], &first["analysed"]), (&Value::Null, &json!(false)));
    assert_eq!((&first["contents"], &first["included"]), (&json!(true), &json!(true)));
    query(&engine, r#"{"query":"heapstack","snapshot":1}"#);
    let list = query(&engine, r#"{"query":"snapshots"}"#);
    let histogram = query(&engine, r#"{"query":"heaphistogram","snapshot":1}"#);
    assert_eq!(list["snapshots"][0]["live"], histogram["bytes"]);
}

#[test]
fn series_add_up_to_what_was_alive() {
    for setting in
        [r#""by":"kind""#, r#""by":"root""#, r#""by":"owner""#, r#""by":"kind","limit":1"#]
    {
        let engine = three();
        let text = format!(r#"{{"query":"evolution",{setting}}}"#);
        // Each query lets the engine go on, as the page's do.
        while engine.work().is_some() || query(&engine, &text)["ready"] != 3 {}
        let evolution = query(&engine, &text);
        for place in 0..3 {
            let series = evolution["series"].as_array().unwrap();
            let sum: u64 = series.iter().map(|series| bytes(&series["bytes"][place])).sum();
            let rest = bytes(&evolution["rest"][place]);
            assert_eq!(sum + rest, bytes(&evolution["total"][place]), "{setting}");
        }
        let first = &evolution["series"][0];
        let name = match () {
            // The custom block has 4 KiB outside the heap, more than all that is in the heap.
            () if setting.contains("root") => "jointly retained by several kinds of roots",
            () if setting.contains("owner") => "Feed / field 1",
            () => "custom _custom9",
        };
        assert_eq!(first["name"], name);
        let largest = |series: &Value| {
            let sizes = |what: &str| series[what].as_array().unwrap().iter().map(bytes);
            sizes("bytes").zip(sizes("external")).map(|(heap, outside)| heap + outside).max()
        };
        let series = evolution["series"].as_array().unwrap();
        assert!(series.is_sorted_by(|a, b| largest(a) >= largest(b)), "{series:#?}");
        for place in 0..3 {
            let sum: u64 = series.iter().map(|series| bytes(&series["external"][place])).sum();
            let rest = bytes(&evolution["rest_external"][place]);
            assert_eq!(sum + rest, bytes(&evolution["external"][place]), "{setting}");
        }
    }
}

#[test]
fn growth_is_what_grew_every_time() {
    let engine = with_snapshots(OFFLINE, &[heap(1, 10), heap(2, 20), heap(3, 20), heap(4, 40)]);
    let growth = |range: &str| {
        let text = format!(r#"{{"query":"heapgrowth"{range}}}"#);
        while engine.work().is_some() || query(&engine, &text)["ready"] == 0 {}
        while engine.work().is_some() {}
        query(&engine, &text)
    };
    assert_eq!(growth("")["rows"], json!([]));
    let some = growth(r#","to":2"#);
    assert_eq!(some["rows"][0]["name"], "Feed / field 1");
    assert_eq!(some["rows"][0]["is_root"], true);
    for row in some["rows"].as_array().unwrap() {
        assert!(bytes(&row["bytes"][1]) > bytes(&row["bytes"][0]), "{row}");
    }
}

/// What is static or in the minor heap is alive, but not in the heap whose size stands beside it.
#[test]
fn what_is_alive_in_the_heap_is_told_apart_from_what_is_alive_elsewhere() {
    let mut model = Model::new();
    let spaces = [Space::Major, Space::Minor, Space::Static, Space::Major];
    for (field, space) in spaces.into_iter().enumerate() {
        let block = model.block_in(space, 0, &[Field::Int(0); 9]);
        model.root(RootKind::Global, &format!("M{field}"), Field::Block(block), Strength::Strong);
    }
    let engine = with_snapshots(OFFLINE, &[model.bytes()]);
    query(&engine, r#"{"query":"heapstack"}"#);
    let list = query(&engine, r#"{"query":"snapshots"}"#);
    let last = &list["snapshots"][0];
    assert_eq!((bytes(&last["live"]), bytes(&last["live_in_heap"])), (4 * 80, 2 * 80));
}

#[test]
fn snapshots_are_compared() {
    let engine = three();
    let diff = query(&engine, r#"{"query":"heapdiff"}"#);
    let [before, after] = [0, 1].map(|side| bytes(&diff["bytes"][side]));
    // 30 cells of three words, 15 strings each of two and of three.
    assert_eq!(after - before, (30 * 3 + 15 * 2 + 15 * 3) * 8);
    assert_eq!(diff["kinds"][0]["blocks"], json!([9, 39]));
    assert_eq!(diff["roots"][0]["name"], "Feed");
    let back = query(&engine, r#"{"query":"heapdiff","a":3,"b":2,"rec_b":0}"#);
    assert!(bytes(&back["bytes"][0]) > bytes(&back["bytes"][1]));
    api_error(&engine, br#"{"query":"heapdiff","a":7}"#);
}
