//! Replays what fuzzing started from and what it has found, and each with bytes changed.

use std::fs;

use memtrail_recording::fuzz;

fn replay(name: &str, check: fn(&[u8])) {
    let folder = format!("{}/fuzz/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}")) {
        let path = entry.expect("an entry").path();
        println!("{}", path.display());
        let bytes = fs::read(&path).expect("a readable file");
        check(&bytes);
        for at in 0..bytes.len() {
            check(&bytes[..at]);
            for other in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = other;
                check(&changed);
            }
        }
        count += 1;
    }
    assert!(count > 0, "{folder} is empty");
}

#[test]
fn memory() {
    replay("memory", fuzz::memory);
}

#[test]
fn collections() {
    replay("collections", fuzz::collections);
}

#[test]
fn smaps() {
    replay("smaps", fuzz::smaps);
}

#[test]
fn waiting() {
    replay("waiting", fuzz::waiting);
}
