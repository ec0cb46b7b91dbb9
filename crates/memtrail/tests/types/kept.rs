//! Types of blocks are left beside a snapshot: they are the same when they are read again, and found anew where what
//! is left is damaged or of other types.

use std::fs;

use super::flow::typed;
use super::printed;

#[test]
fn types_of_blocks_are_kept() {
    let (_folder, recording) = typed("system", "typed_values.ml", &[]);
    let (file, snapshot) = (recording.join("0001.heap.types"), recording.join("0001.heap"));
    let ask = |what: &str| {
        printed(["heap".as_ref(), what.as_ref(), snapshot.as_os_str(), "--json".as_ref()])
    };
    let histogram = || {
        let words = ["heap".as_ref(), "histogram".as_ref(), "--by".as_ref(), "type".as_ref()];
        let more = ["--limit", "0", "--json"].map(AsRef::as_ref);
        printed(words.into_iter().chain([snapshot.as_os_str()]).chain(more))
    };
    // `roots` says what variables without a name hold, so it asks for types.
    ask("stack");
    assert!(!file.exists(), "nobody has asked for types");
    let found = (histogram(), ask("containers"));
    let kept = fs::read(&file).unwrap();
    assert!(found.0.contains("Hashtbl.t"), "{}", found.0);
    assert_eq!((histogram(), ask("containers")), found);
    // What is read is what is there, not what would be found.
    let mut damaged = kept.clone();
    damaged[kept.len() / 2] ^= 1;
    fs::write(&file, &damaged).unwrap();
    assert_eq!(histogram(), found.0);
    assert!(fs::read(&file).unwrap() == kept, "found anew");
    // Without declared types the same blocks have others.
    let types = fs::read(recording.join("types")).unwrap();
    fs::remove_file(recording.join("types")).unwrap();
    assert_ne!(histogram(), found.0);
    fs::write(recording.join("types"), types).unwrap();
    assert_eq!(histogram(), found.0);
    assert!(fs::read(&file).unwrap() == kept, "the same bytes");
}
