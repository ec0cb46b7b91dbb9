//! What a program allocated before it forked is counted once: amounts that are known in advance.

use memtrail_test_support::on_each;

use super::{json, recorded};

/// What the lists' function allocated.
const LISTS: &str = "in:~Family.allocate";

/// An element is a pair and what links it, of three words each; a list is linked to those before it by three words.
const fn bytes(elements: u64, lists: u64) -> u64 {
    (6 * elements + 3 * lists) * 8
}

on_each!(what_was_allocated_before_a_fork_is_counted_once, |compiler| {
    let (_case, seen, family) = recorded(compiler, "family", &["--rate", "1", "--children"]);
    assert!(seen.status.success(), "{seen:?}");
    let allocated = |conditions: &[&str]| {
        let filters = conditions.iter().flat_map(|condition| ["--filter", condition]);
        let words: Vec<&str> = ["export", "--json"].into_iter().chain(filters).collect();
        let total = &json(&words, &family)["total"]["allocated_bytes"];
        total.as_f64().expect("bytes").round() as u64
    };
    let whole = json(&["report", "--json"], &family);
    let processes = whole["family"]["processes"].as_array().expect("processes");
    let mut found: Vec<(u64, u64)> = Vec::new();
    for process in processes {
        let pid = format!("process:{}", process["pid"]);
        let generation = process["generation"].as_u64().expect("a number");
        // A process that became another program has a recording of each.
        if found.len() < processes.len() && process["origin"] != "replaced" {
            found.push((generation, allocated(&[LISTS, &pid])));
        }
    }
    found.sort_unstable();
    // The first had 2,000 elements when it forked: no fork counts them, nor those of a fork above it.
    let expected = [
        (0, bytes(2_100, 2)),
        (1, bytes(300, 1)),
        (1, bytes(200 + 400, 2)),
        (1, bytes(1_000, 1)),
        (2, bytes(500, 1)),
    ];
    assert_eq!(found, expected);
    assert_eq!(allocated(&[LISTS]), bytes(2_100 + 300 + 600 + 1_000 + 500, 7));
});
