//! Replays what fuzzing started from and what it has found.

use std::fs;

use memtrail_trace::fuzz;

fn replay(target: &str, check: fn(&[u8])) {
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
fn read() {
    replay("read", fuzz::read);
}

#[test]
fn follow() {
    replay("follow", fuzz::follow);
}
