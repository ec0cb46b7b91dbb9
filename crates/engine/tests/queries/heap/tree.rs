//! The dominator tree, boxes, paths and single blocks.

use memtrail_engine::{Engine, Status};
use memtrail_heap::model::{Made, Value as Field};
use memtrail_test_support::models::Feed;
use serde_json::{Value, json};

use super::{OFFLINE, bytes, query, three, with_snapshots};
use crate::queries::recorded::{answer, api_error};

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
