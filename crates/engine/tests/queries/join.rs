//! Questions about both halves of a recording: who allocated what is alive, what retains it, and which blocks there
//! are.

use memtrail_engine::{Engine, Setting};
use serde_json::{Value, json};

use crate::queries::heap::{heap, with_snapshots};
use crate::queries::recorded::{answer, api_error};

fn engine() -> Engine {
    with_snapshots(Setting { live: false, offline: true }, &[heap(1, 10), heap(2, 20), heap(3, 40)])
}

fn ask(engine: &Engine, query: &Value) -> Value {
    Value::Object(answer(engine, query).header().clone())
}

fn rows<'v>(of: &'v Value, name: &str) -> &'v [Value] {
    of[name].as_array().unwrap_or_else(|| panic!("no {name} in {of:#}"))
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of} is no number"))
}

/// Boxes are in earlier ones, which are as large as all that is in them, and the first is all.
fn check_boxes(of: &Value) {
    let boxes = rows(of, "boxes");
    let mut inside = vec![0.0; boxes.len()];
    for (at, one) in boxes.iter().enumerate().skip(1) {
        let parent = one["parent"].as_u64().unwrap() as usize;
        assert!(parent < at, "{one}");
        inside[parent] += number(&one["bytes"]);
    }
    for (one, inside) in boxes.iter().zip(inside) {
        assert!(inside <= number(&one["bytes"]) + 0.5, "{one} has {inside} in it");
        assert!(number(&one["allocated"][0]) <= number(&one["allocated"][1]), "{one}");
    }
    assert!((number(&boxes[0]["bytes"]) - number(&of["alive"]["bytes"]["value"])).abs() < 0.5);
}

#[test]
fn calls_that_allocated_a_nodes_blocks_are_boxes_of_all_of_them() {
    let engine = engine();
    let all = ask(&engine, &json!({"query": "heapwho", "node": "all", "boxes": 100}));
    assert_eq!([&all["of"], &all["alive"]["sampled"]], [&json!("node"), &json!(2)]);
    check_boxes(&all);
    let leaves: Vec<&str> =
        rows(&all, "boxes").iter().filter_map(|one| one["place"].as_str()).collect();
    assert!(leaves.iter().any(|place| place.contains(".ml:")), "{leaves:?}");

    // What a root owns is the same by its name and by its node.
    let owners = ask(&engine, &json!({"query": "heapowners", "limit": 1}));
    let owner = &owners["rows"][0];
    let by_node = ask(&engine, &json!({"query": "heapwho", "owner": owner["node"], "boxes": 9}));
    let by_name = ask(&engine, &json!({"query": "heapwho", "name": owner["name"], "boxes": 9}));
    assert_eq!(by_node, by_name);
    assert_eq!(by_node["size"], owner["owned"]);

    // Only blocks that a block dominates are below it.
    let list = rows(&all, "rows").iter().map(|row| row["example"].as_u64().unwrap());
    for block in list {
        let below = ask(&engine, &json!({"query": "heapwho", "node": format!("block:{block}")}));
        assert_eq!(below["alive"]["sampled"], 1, "block {block}");
        assert!(below.get("boxes").is_none(), "none were asked for");
    }
    let (_, error) = api_error(&engine, br#"{"query":"heapwho","owner":"kind:finaliser"}"#);
    assert_eq!(error["message"], "kind:finaliser owns nothing");
}

#[test]
fn groups_of_the_dominator_tree_have_their_blocks_below_them() {
    let engine = engine();
    let map = ask(&engine, &json!({"query": "heaptreemap", "node": "all", "depth": 20}));
    let boxes = rows(&map, "boxes");
    let sampled: Vec<Option<u64>> = boxes
        .iter()
        .map(|one| {
            let node = one["node"].as_str()?;
            let who = ask(&engine, &json!({"query": "heapwho", "node": node}));
            if node.starts_with("group:") {
                assert_eq!(who["size"], one["retained"], "{one}");
            }
            who["alive"]["sampled"].as_u64()
        })
        .collect();
    let groups = boxes.iter().filter(|one| one["node"].to_string().contains("group:")).count();
    assert!(groups > 0, "{map:#}");
    for (at, one) in boxes.iter().enumerate().skip(1) {
        let parent = one["parent"].as_u64().unwrap() as usize;
        assert!(sampled[at] <= sampled[parent] || sampled[parent].is_none(), "{one}");
    }
}

#[test]
fn retaining_paths_are_boxes_from_the_roots_down() {
    let engine = engine();
    let all = ask(&engine, &json!({"query": "heapwho", "node": "all", "boxes": 100}));
    for one in rows(&all, "boxes").iter().filter(|one| one["key"].is_string()) {
        let within = ask(
            &engine,
            &json!({"query": "heapwhy", "name": one["key"], "within": true, "boxes": 100}),
        );
        check_boxes(&within);
        assert_eq!(within["are_callers"], true);
        // All calls of the name count, not only those in the box.
        assert!(number(&within["alive"]["bytes"]["value"]) >= number(&one["bytes"]) - 0.5);
        let paths: f64 = rows(&within, "paths")
            .iter()
            .map(|path| number(&path["alive"]["bytes"]["value"]))
            .sum();
        assert!((paths - number(&within["alive"]["bytes"]["value"])).abs() < 0.5);
        for owner in rows(&within, "owners") {
            let who = ask(&engine, &json!({"query": "heapwho", "owner": owner["node"]}));
            assert_eq!(who["names"], json!([owner["name"]]));
        }
    }
}

#[test]
fn a_call_path_is_what_its_box_is() {
    let engine = engine();
    let all = ask(&engine, &json!({"query": "heapwho", "node": "all", "boxes": 100}));
    let boxes = rows(&all, "boxes");
    let mut asked = 0;
    for (at, one) in boxes.iter().enumerate().filter(|(_, one)| one["key"].is_string()) {
        let mut path = vec![one["key"].clone()];
        let mut below = at;
        while below != 0 {
            below = boxes[below]["parent"].as_u64().unwrap() as usize;
            path.extend(Some(boxes[below]["key"].clone()).filter(Value::is_string));
        }
        path.push(json!("<toplevel>"));
        path.reverse();
        let why = ask(&engine, &json!({"query": "heapwhy", "path": path, "recursion": "shown"}));
        let (bytes, of_box) = (number(&why["alive"]["bytes"]["value"]), number(&one["bytes"]));
        assert!((bytes - of_box).abs() < 0.5, "{path:?}: {bytes}, but the box {of_box}");
        asked += 1;
    }
    assert!(asked > 2, "{all:#}");
    let hidden = json!({"query": "heapwhy", "path": ["no such function"]}).to_string();
    assert!(api_error(&engine, hidden.as_bytes()).1["message"].is_string());
}

/// Every block, one by one.
fn each_block(engine: &Engine) -> Vec<Value> {
    let all = ask(engine, &json!({"query": "heapblocks", "limit": 1}));
    let most = all["of"].as_u64().unwrap() + 100;
    let reachable = |of: &Value| of["reachable"] == true;
    let ask_block = |block| {
        let response =
            engine.query(json!({"query": "heapblock", "block": block}).to_string().as_bytes());
        let body = memtrail_engine::ResponseBody::decode(&response.bytes).unwrap();
        Value::Object(body.header().clone())
    };
    (0..most).map(ask_block).filter(reachable).collect()
}

/// A filter, and which blocks it wants.
type Wanted<'w> = (&'w str, &'w dyn Fn(&Value) -> bool);

#[test]
fn blocks_are_those_that_the_filter_wants_in_order() {
    let engine = engine();
    let each = each_block(&engine);
    let list = |filter: &str, sort: &str, descending: bool| {
        let query = json!({"query": "heapblocks", "filter": filter, "sort": sort,
            "descending": descending, "limit": 1000});
        ask(&engine, &query)
    };
    let all = list("", "block", false);
    assert_eq!([&all["count"], &all["of"]], [each.len(), each.len()]);
    let wanted: [Wanted<'_>; 6] = [
        ("kind:string", &|block| block["kind"] == "string"),
        ("-kind:string size:>24", &|block| {
            block["kind"] != "string" && number(&block["size"]) > 24.0
        }),
        ("retained:>=1K", &|block| number(&block["retained"]) >= 1024.0),
        ("size:<1K,2K..", &|block| !(1024.0..2048.0).contains(&number(&block["size"]))),
        ("age:0..", &|block| !block["sample"].is_null()),
        ("kind:~str kind:/ing$/", &|block| block["kind"] == "string"),
    ];
    for (filter, is_wanted) in wanted {
        let mut expected: Vec<&Value> = each.iter().filter(|block| is_wanted(block)).collect();
        assert!(!expected.is_empty(), "{filter}");
        for (sort, field) in [("retained", "retained"), ("size", "size"), ("block", "block")] {
            for descending in [true, false] {
                let figure = |block: &Value| block[field].as_i64().unwrap();
                let sign = if descending { -1 } else { 1 };
                expected.sort_by_key(|block| (sign * figure(block), block["block"].as_u64()));
                let found = list(filter, sort, descending);
                let blocks = |of: &[Value]| of.iter().map(|row| row["block"].clone()).collect();
                let numbers: Vec<Value> = blocks(rows(&found, "rows"));
                let owned: Vec<Value> =
                    expected.iter().map(|block| block["block"].clone()).collect();
                assert_eq!(numbers, owned, "{filter} by {sort}, descending: {descending}");
                assert_eq!(found["count"], expected.len());
            }
        }
        for (row, block) in rows(&list(filter, "block", true), "rows").iter().rev().zip({
            expected.sort_by_key(|block| block["block"].as_u64());
            &expected
        }) {
            for field in ["kind", "size", "retained", "external"] {
                assert_eq!(row[field], block[field], "{filter}");
            }
        }
    }
}

#[test]
fn blocks_are_listed_page_by_page_and_by_owner() {
    let engine = engine();
    let page = |offset: usize, limit: usize| {
        let query =
            json!({"query": "heapblocks", "sort": "size", "offset": offset, "limit": limit});
        ask(&engine, &query)
    };
    let all = page(0, 50);
    let pages: Vec<Value> =
        (0..10).flat_map(|at| rows(&page(at * 5, 5), "rows").to_vec()).collect();
    assert_eq!(rows(&all, "rows"), pages);
    let owners = ask(&engine, &json!({"query": "heapowners"}));
    for owner in rows(&owners, "rows") {
        let filter = format!("owner:\"{}\"", owner["name"].as_str().unwrap());
        let owned = ask(&engine, &json!({"query": "heapblocks", "filter": filter, "limit": 9}));
        assert_eq!(owned["size"], owner["owned"], "{filter}");
        for row in rows(&owned, "rows") {
            assert_eq!([&row["owner"], &row["owner_node"]], [&owner["name"], &owner["node"]]);
        }
    }
    let (_, error) = api_error(&engine, br#"{"query":"heapblocks","filter":"size:1k colour:red"}"#);
    assert_eq!(error["message"], "unknown condition \"colour\", at character 8");
    assert!(error["hint"].as_str().unwrap().contains("kind, type, owner"), "{error}");
}
