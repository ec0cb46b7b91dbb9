//! Asks of heap snapshots.

use std::sync::Arc;

use memtrail_engine::{
    Description, Engine, InMemory, ResponseBody, Setting, SnapshotFacts, SnapshotFile, Status,
};
use memtrail_heap::model::{Heap as Model, Made, Value as Field};
use memtrail_heap::read::Strength;
use memtrail_heap::write::{LabelRole, Space};
use memtrail_heap::{RootKind, tag};
use memtrail_test_support::models::Feed;
use serde_json::{Value, json};

use crate::recorded::{answer, api_error, fixture};

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
    let id = engine.add(&fixture("cache-v2.ctf"), Description::default(), |_| ()).unwrap();
    for bytes in heaps {
        let facts = SnapshotFacts::peek(bytes).unwrap();
        let file: Arc<dyn SnapshotFile> = Arc::new(InMemory(bytes.as_slice().into()));
        assert!(engine.add_snapshot(id, facts, Some(file)));
    }
    engine
}

const OFFLINE: Setting = Setting { live: false, offline: true };

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
            () if setting.contains("root") => "Feed",
            () if setting.contains("owner") => "Feed / field 1",
            () => "~ list (::)",
        };
        assert_eq!(first["name"], name);
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

#[test]
fn owners_add_up_to_all_that_is_reachable() {
    let engine = three();
    let all = query(&engine, r#"{"query":"heapowners"}"#);
    let rows = all["rows"].as_array().unwrap();
    let owned = |rows: &[Value]| rows.iter().map(|row| bytes(&row["owned"])).sum::<u64>();
    assert_eq!(owned(rows), bytes(&all["total"]));
    assert_eq!(owned(all["kinds"].as_array().unwrap()), bytes(&all["total"]));
    // The table is the variable's, though the stack reaches it, too.
    assert_eq!((&rows[0]["name"], &rows[0]["kind"]), (&json!("Feed / field 1"), &json!("global")));
    assert!(bytes(&rows[0]["owned"]) > bytes(&rows[0]["retained"]));
    let stack = query(&engine, r#"{"query":"heapowners","kind":"stack"}"#);
    assert_eq!((&stack["count"], &stack["total"]), (&json!(0), &all["total"]));
    let found = query(&engine, r#"{"query":"heapowners","find":"field 1","sort":"retained"}"#);
    assert_eq!(found["rows"], json!([rows[0]]));
    let none = query(&engine, r#"{"query":"heapowners","find":"nothing of this"}"#);
    assert_eq!((&none["rows"], &none["count"]), (&json!([]), &json!(0)));
}

#[test]
fn what_several_roots_retain_is_opened_down_to_what_has_to_be_cut() {
    let engine = three();
    let shares = query(&engine, r#"{"query":"heapjoint"}"#);
    assert_eq!([&shares["count"], &shares["rows"][0]["what"]], [&json!(1), &json!("share")]);
    // The table that a frame and the module hold, of 40 fields.
    let share = &shares["rows"][0];
    assert_eq!(share["node"], "all");
    let blocks = query(&engine, r#"{"query":"heapjoint","under":"all"}"#);
    let table = &blocks["rows"][0];
    assert_eq!([&table["what"], &table["opens"]], [&json!("block"), &json!(true)]);
    assert_eq!(share["retained"], table["retained"]);
    assert_eq!(table["retained_external"], 4096);
    let place = table["place"].as_str().unwrap();
    assert!(place.ends_with("; cut 2 references to free it"), "{place}");
    let under = json!({"query": "heapjoint", "under": table["node"]}).to_string();
    let cut = query(&engine, &under);
    let names: Vec<&str> =
        cut["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2, "{cut:#}");
    assert!(names.iter().all(|name| name.starts_with("cut ")), "{names:?}");
    let (status, error) = api_error(&engine, br#"{"query":"heapjoint","under":"kind:stack"}"#);
    assert_eq!(status, Status::Unknown, "{error}");
}

#[test]
fn containers_have_owners() {
    let engine = three();
    let all = query(&engine, r#"{"query":"heapcontainers"}"#);
    let rows = all["rows"].as_array().unwrap();
    assert_eq!([&all["count"], &all["containers"]], [rows.len(), rows.len()]);
    let list = rows.iter().find(|row| row["structure"] == "list").unwrap();
    // The first cell may be a pair, but nothing else leads to the others.
    assert_eq!(list["entries"], 40, "{list:#}");
    assert_eq!(list["type"], "~ list (::)");
    assert!(list["owner_node"].as_str().unwrap().starts_with("label:"), "{list:#}");
    let of_owner = json!({"query": "heapcontainers", "find": list["owner"], "sort": "entries"});
    let found = query(&engine, &of_owner.to_string());
    assert!(found["rows"].as_array().unwrap().contains(list), "{found:#}");
    let none = query(&engine, r#"{"query":"heapcontainers","find":"nothing of this"}"#);
    assert_eq!(none["count"], 0);
}

#[test]
fn blocks_of_an_owner_are_counted_by_kind() {
    let engine = three();
    let owners = query(&engine, r#"{"query":"heapowners"}"#);
    for owner in owners["rows"].as_array().unwrap() {
        let of_owner = json!({"query": "heaphistogram", "owner": owner["node"]}).to_string();
        let histogram = query(&engine, &of_owner);
        assert_eq!(histogram["bytes"], owner["owned"], "{owner:#}");
        let sum: u64 =
            histogram["rows"].as_array().unwrap().iter().map(|row| bytes(&row["bytes"])).sum();
        assert_eq!(sum, bytes(&owner["owned"]));
    }
}

#[test]
fn roots_are_told_level_by_level() {
    let engine = three();
    let top = query(&engine, r#"{"query":"heaproots"}"#);
    let names = |answer: &Value| -> Vec<String> {
        let rows = answer["rows"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    // The table is kept by two kinds of roots, neither of which keeps it alone.
    assert_eq!(names(&top), ["Feed", "jointly retained by several kinds of roots", "thread 1"]);
    assert_eq!(bytes(&top["rows"][1]["retained"]), (41 + 3) * 8);
    let sum: u64 = top["rows"].as_array().unwrap().iter().map(|r| bytes(&r["retained"])).sum();
    assert_eq!(sum, bytes(&top["total"]), "the rows of the top level are all that is alive");
    let feed = &top["rows"][0];
    assert_eq!(feed["below"], 1);
    let shared = bytes(&feed["reachable"]) - bytes(&feed["retained"]);
    assert_eq!(bytes(&feed["shared"]), shared);
    // The table with its 41 words and the custom block with 3.
    assert_eq!(shared, (41 + 3) * 8);
    let under = format!(r#"{{"query":"heaproots","under":{}}}"#, feed["node"]);
    assert_eq!(names(&query(&engine, &under)), ["field 1"]);
    let found = query(&engine, r#"{"query":"heaproots","find":"serve","sort":"reachable"}"#);
    assert_eq!(names(&found), ["Feed.serve (feed.ml:12)"]);
    assert_eq!(bytes(&found["rows"][0]["reachable"]), shared);
    let kinds = found["kinds"].as_array().unwrap();
    assert_eq!(kinds.iter().find(|kind| kind["kind"] == "global").unwrap()["labels"], 2);
    let both = r#"{"query":"heapshared","a":"kind:global","b":"kind:stack"}"#;
    assert_eq!(bytes(&query(&engine, both)["common"]), shared);
    let stack = query(&engine, r#"{"query":"heapstack"}"#);
    assert_eq!(stack["rows"][1]["depth"], 1);
}

#[test]
fn the_dominator_tree_opens_down_to_single_blocks() {
    let engine = three();
    let below = |node: &str| {
        let ask_it = json!({ "query": "heapchildren", "node": node });
        Value::Object(answer(&engine, &ask_it).header().clone())
    };
    let top = below("all");
    let sum: u64 = top["rows"].as_array().unwrap().iter().map(|row| bytes(&row["retained"])).sum();
    assert_eq!(sum, bytes(&top["node"]["retained"]));
    // What both roots share is below all of them.
    let table = top["rows"].as_array().unwrap().iter().find(|row| row["what"] == "block").unwrap();
    assert_eq!(table["name"], "~ array");
    assert_eq!(bytes(&table["retained_external"]), 4096);
    let field = below("label:1");
    let list = &field["rows"][0];
    assert_eq!((&list["what"], &list["name"]), (&json!("block"), &json!("tag 0, 2 fields")));
    assert_eq!(field["path"][2]["name"], "Feed");
    // The first cell keeps a string and the other cells.
    let cell = below(list["node"].as_str().unwrap());
    let rows = cell["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let group = json!("group:label:1/tag 0, 2 fields›~ list (::)›string");
    let strings = below(group.as_str().unwrap());
    assert_eq!(strings["count"], 39);
    assert_eq!(strings["rows"][0]["what"], "block");
    // The way leads through the groups that it is in.
    let way = |node: &str| -> Vec<String> {
        let path = below(node)["path"].as_array().unwrap().clone();
        path.iter().map(|step| step["name"].as_str().unwrap().to_owned()).collect()
    };
    let to_field = way(group.as_str().unwrap());
    assert_eq!(to_field[1..], ["global", "Feed", "field 1", "tag 0, 2 fields", "~ list (::)"]);
    assert_eq!(way("group:label:1/tag 0, 2 fields"), to_field[..4]);
    for wrong in ["", "label:99", "block:99999", "kind:no", "group:all", "group:all/string", "x:1"]
    {
        let text = json!({ "query": "heapchildren", "node": wrong }).to_string();
        let (status, _) = api_error(&engine, text.as_bytes());
        assert_eq!(status, Status::Bad, "{wrong}");
    }
}

#[test]
fn boxes_hold_what_is_inside_them() {
    let engine = three();
    for text in [
        r#"{"query":"heaptreemap"}"#,
        r#"{"query":"heaptreemap","limit":6}"#,
        r#"{"query":"heaptreemap","node":"group:label:1/tag 0, 2 fields","depth":1}"#,
        r#"{"query":"heaptreemap","node":"group:label:1/tag 0, 2 fields›string","limit":20}"#,
        r#"{"query":"heapflame"}"#,
        r#"{"query":"heapflame","limit":3}"#,
        r#"{"query":"heapflame","kind":"string"}"#,
    ] {
        let boxes = query(&engine, text)["boxes"].as_array().unwrap().clone();
        let mut inside = vec![0; boxes.len()];
        for (number, one) in boxes.iter().enumerate().skip(1) {
            let parent = one["parent"].as_u64().unwrap() as usize;
            assert!(parent < number, "{text}");
            inside[parent] += bytes(&one["retained"]);
        }
        for (one, inside) in boxes.iter().zip(inside) {
            assert!(inside <= bytes(&one["retained"]), "{text}: {one}");
            if text.contains("flame") {
                assert_eq!(inside + bytes(&one["own"]), bytes(&one["retained"]), "{text}: {one}");
            }
        }
    }
    // 40 strings, of which half have two words more than a header.
    let strings = query(&engine, r#"{"query":"heapflame","kind":"string"}"#);
    assert_eq!(bytes(&strings["total"]), 20 * 2 * 8 + 20 * 3 * 8);
    api_error(&engine, br#"{"query":"heapflame","kind":"no such kind"}"#);
}

#[test]
fn a_block_is_told_with_its_neighbours_and_where_it_was_allocated() {
    let engine = three();
    let samples = query(&engine, r#"{"query":"heapsamples"}"#);
    assert_eq!(samples["sampled"], 2);
    let rows = samples["rows"].as_array().unwrap();
    let blocks: u64 = rows.iter().map(|row| bytes(&row["blocks"])).sum();
    assert_eq!(blocks, 2);
    let retained: Vec<u64> = rows.iter().map(|row| bytes(&row["retained"])).collect();
    assert!(retained.is_sorted_by(|a, b| a >= b));
    let example = rows[0]["example"].as_u64().unwrap();

    let block = query(&engine, &format!(r#"{{"query":"heapblock","block":{example}}}"#));
    assert_eq!(block["reachable"], true);
    assert_eq!(block["kind"], "tag 0, 2 fields");
    assert_eq!(block["referenced_by"]["rows"][0]["node"], "label:1");
    assert_eq!(block["references"]["count"], 2);
    let frames = block["sample"]["frames"].as_array().unwrap();
    assert!(frames[0]["name"].is_string() && frames[0]["line"].is_u64(), "{frames:?}");
    assert!(block["sample"]["time"].is_number());
    let steps = block["path"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["node"], format!("block:{example}"));
    assert_eq!(steps[0]["node"], "kind:global");

    let string = &block["references"]["rows"][0];
    let text = query(&engine, &format!(r#"{{"query":"heapblock","block":{}}}"#, string["block"]));
    assert_eq!((&text["text"], &text["text_length"]), (&json!("odd number"), &json!(10)));
    assert_eq!(text["sample"], Value::Null);
    assert_eq!(text["dominator"]["node"], format!("block:{example}"));
    api_error(&engine, br#"{"query":"heapblock","block":100000}"#);
}

#[test]
fn a_group_that_nothing_hangs_from_is_shown_as_its_blocks() {
    let engine = three();
    let map = |limit: usize| {
        let node = "group:label:1/tag 0, 2 fields›~ list (::)›string";
        let ask_it = json!({ "query": "heaptreemap", "node": node, "limit": limit });
        answer(&engine, &ask_it).header()["boxes"].as_array().unwrap().clone()
    };
    let boxes = map(100);
    // The first cell may be a pair.
    assert_eq!(boxes.len(), 1 + 39);
    let sum: u64 = boxes[1..].iter().map(|one| bytes(&one["retained"])).sum();
    assert_eq!(sum, bytes(&boxes[0]["retained"]));
    assert!(boxes[1..].iter().all(|one| one["node"].as_str().unwrap().starts_with("block:")));
    let few = map(20);
    assert_eq!((&few[16]["name"], &few[16]["blocks"]), (&json!("other"), &json!(24)));
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

/// A share of the largest row says nothing about the whole.
#[test]
fn shares_are_those_of_all_that_is_alive() {
    let engine = three();
    let alive = bytes(&query(&engine, r#"{"query":"heaproots"}"#)["total"]) as f64;
    let near = |share: &Value, of: u64| {
        let expected = of as f64 / alive;
        assert!((share.as_f64().unwrap() - expected).abs() < 1e-9, "{share}, not {expected}");
    };
    for text in
        [r#"{"query":"heapstack"}"#, r#"{"query":"heaproots"}"#, r#"{"query":"heapchildren"}"#]
    {
        for row in query(&engine, text)["rows"].as_array().unwrap() {
            near(&row["share"], bytes(&row["retained"]));
        }
    }
    let diff = query(&engine, r#"{"query":"heapdiff"}"#);
    for row in diff["kinds"].as_array().unwrap().iter().chain(diff["roots"].as_array().unwrap()) {
        near(&row["share"], bytes(&row["bytes"][1]).abs_diff(bytes(&row["bytes"][0])));
    }
    let growth = query(&engine, r#"{"query":"heapgrowth"}"#);
    assert!(!growth["rows"].as_array().unwrap().is_empty());
    for row in growth["rows"].as_array().unwrap() {
        let sizes = row["bytes"].as_array().unwrap();
        near(&row["share"], bytes(sizes.last().unwrap()) - bytes(&sizes[0]));
    }
}

#[test]
fn ways_are_told_to_blocks_and_to_kinds() {
    let engine = three();
    let kinds = query(&engine, r#"{"query":"heappath","kind":"string"}"#);
    let paths = kinds["paths"].as_array().unwrap();
    let blocks: u64 = paths.iter().map(|path| bytes(&path["blocks"])).sum();
    assert_eq!(blocks, 40);
    let retained: u64 = paths.iter().map(|path| bytes(&path["retained"])).sum();
    assert_eq!(retained, 20 * 2 * 8 + 20 * 3 * 8);
    let custom = query(&engine, r#"{"query":"heaphistogram","find":"custom"}"#);
    let block = &custom["rows"][0]["example"];
    let shortest = query(&engine, &format!(r#"{{"query":"heappath","block":{block}}}"#));
    assert_eq!(shortest["count"], 1);
    let text = format!(r#"{{"query":"heappath","block":{block},"how":"disjoint"}}"#);
    assert_eq!(query(&engine, &text)["all"], true);
    let strings = query(&engine, r#"{"query":"heapstrings"}"#);
    assert_eq!(strings["rows"][0]["times"], 20);
    assert_eq!((&strings["count"], &strings["strings"]["repeated"]), (&json!(2), &json!(2)));
    let sums = &strings["strings"];
    assert_eq!(bytes(&sums["bytes"]), 20 * 2 * 8 + 20 * 3 * 8, "as all sizes are, with headers");
    assert_eq!(bytes(&sums["wasted"]), 19 * 2 * 8 + 19 * 3 * 8);
    let next =
        query(&engine, r#"{"query":"heapstrings","sort":"length","descending":false,"offset":1}"#);
    assert_eq!(next["rows"][0]["start"], strings["rows"][0]["start"], "the longer one wastes more");
    api_error(&engine, br#"{"query":"heappath"}"#);
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

/// The innermost call of a block's allocation.
fn innermost(engine: &Engine, block: usize) -> Option<[Value; 3]> {
    let answer = query(engine, &format!(r#"{{"query":"heapblock","block":{block}}}"#));
    let frame = answer["sample"]["frames"].get(0)?;
    Some(["name", "file", "line"].map(|part| frame[part].clone()))
}

/// A heap with blocks of one kind below a root, of which the first ones have these samples.
fn sampled(samples: &[u64], blocks: usize) -> Vec<u8> {
    let mut feed = Feed::new(1);
    let made: Vec<Made> = (0..blocks).map(|_| feed.heap.block(3, &[Field::Int(0); 2])).collect();
    for (block, sample) in made.iter().zip(samples) {
        feed.heap.sample(*block, *sample);
    }
    let fields: Vec<Field> = made.into_iter().map(Field::Block).collect();
    let all = feed.heap.block(4, &fields);
    feed.root(feed.field, all);
    feed.heap.bytes()
}

#[test]
fn blocks_without_a_type_are_named_by_the_samples_of_their_place() {
    // Samples of the fixture by what allocated them.
    let ids: Vec<u64> = (0..100).collect();
    let engine = with_snapshots(OFFLINE, &[sampled(&ids, 100)]);
    let mut sites: Vec<([Value; 3], Vec<u64>)> = Vec::new();
    for id in ids {
        let Some(site) = innermost(&engine, id as usize) else { continue };
        match sites.iter_mut().find(|(known, _)| *known == site) {
            Some((_, ids)) => ids.push(id),
            None => sites.push((site, vec![id])),
        }
    }
    sites.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    let (([name, file, line], many), (_, others)) = (&sites[0], &sites[1]);
    let row = |samples: &[u64]| {
        let engine = with_snapshots(OFFLINE, &[sampled(samples, 200)]);
        let rows = query(&engine, r#"{"query":"heaphistogram"}"#);
        let row = |row: &&Value| row["kind"] == "tag 3, 2 fields";
        let row = rows["rows"].as_array().unwrap().iter().find(row).unwrap().clone();
        let like_it = query(&engine, r#"{"query":"heapblock","block":150}"#);
        assert_eq!(like_it["sample"], Value::Null);
        (row["allocated"].clone(), like_it["allocated"].clone())
    };
    let named = json!({
        "precision": "site", "name": name, "file": file, "line": line, "samples": 9, "of": 10,
    });
    let samples = [&many[..9], &others[..1]].concat();
    let (parts, like_it) = row(&samples);
    assert_eq!(like_it, named);
    let mut part = named;
    part["blocks"] = json!(200);
    part["bytes"] = json!(200 * 24);
    assert_eq!(parts, json!([part]));
    assert_eq!(row(&many[..5]), (Value::Null, Value::Null), "too few");
}
