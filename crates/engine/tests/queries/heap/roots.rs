//! Roots: what each retains, owns and shares.

use memtrail_engine::Status;
use serde_json::{Value, json};

use super::{bytes, query, three};
use crate::queries::recorded::api_error;

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
