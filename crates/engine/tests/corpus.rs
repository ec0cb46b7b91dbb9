//! Replays what fuzzing started from and what it has found.

use std::fs;

use memtrail_engine::fuzz;

fn replay(target: &str, check: impl Fn(&[u8])) {
    let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}")) {
        let path = entry.expect("an entry").path();
        println!("{}", path.display());
        check(&fs::read(&path).expect("a readable file"));
        count += 1;
    }
    assert!(count > 0, "{folder} is empty");
}

#[test]
fn query() {
    let trace = include_bytes!("../../trace/tests/fixtures/lists_and_sets-v1.ctf");
    let engine = fuzz::engine(trace);
    replay("query", |query| fuzz::query(&engine, query));
}

#[test]
fn answer() {
    replay("answer", fuzz::answer);
}
