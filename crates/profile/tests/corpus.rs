//! Replays what fuzzing started from and what it has found.

use std::fs;

use memtrail_profile::fuzz;

#[test]
fn conditions() {
    let folder = format!("{}/fuzz/corpus/conditions", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}")) {
        let path = entry.expect("an entry").path();
        println!("{}", path.display());
        let bytes = fs::read(&path).expect("a readable file");
        fuzz::conditions(&bytes);
        // Each line by itself, too: a filter ends at its first error.
        bytes.split(|&byte| byte == b'\n').for_each(fuzz::conditions);
        count += 1;
    }
    assert!(count > 0, "{folder} is empty");
}
