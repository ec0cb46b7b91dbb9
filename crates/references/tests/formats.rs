//! Files of each version of the format that was ever written, and the fuzz corpus.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use memtrail_references::{
    Bytes, HeapBlock, Node, Place, Reachability, References, Root, State, Thread, Variable,
};

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read(folder.join(name)).unwrap()
}

fn check(found: &References, position: Option<&str>) {
    assert_eq!(found.modules, ["/usr/bin/server"]);
    assert_eq!((found.blocks.len(), found.edges.len(), found.roots.len()), (4, 2, 4));
    let name = "table+0x18".to_owned();
    let expected = Variable { name, position: position.map(Into::into) };
    let Place::Data { address: 0x4018, variable: Some(variable), .. } = &found.roots[0].place
    else {
        panic!("{:?}", found.roots[0]);
    };
    assert_eq!(variable, &expected);
    let reachability = Reachability::new(found);
    let states = [0, 1, 2, 3].map(|node| reachability.state(Node(node)));
    assert_eq!(states, [State::Reachable, State::Reachable, State::Reachable, State::Leaked]);
}

#[test]
fn version_1_had_no_positions() {
    let found = References::read(&fixture("version1.references")).unwrap();
    check(&found, None);
    assert_ne!(found.to_bytes(), fixture("version1.references"), "it is written as version 4");
}

#[test]
fn version_2_had_no_roots_in_the_heap_of_ocaml() {
    let found = References::read(&fixture("version2.references")).unwrap();
    check(&found, Some("server.c:14"));
    assert_ne!(found.to_bytes(), fixture("version2.references"), "it is written as version 4");
}

#[test]
fn version_3_had_no_system_calls() {
    let mut found = References::read(&fixture("version3.references")).unwrap();
    assert_ne!(found.to_bytes(), fixture("version3.references"), "it is written as version 4");
    let place = Place::Heap { block: HeapBlock(755), at: Bytes(8), is_garbage: false };
    assert_eq!(found.roots.pop(), Some(Root { place, to: Node(1) }));
    check(&found, Some("server.c:14"));
}

#[test]
fn version_4_is_read_and_written() {
    let mut found = References::read(&fixture("version4.references")).unwrap();
    assert_eq!(found.to_bytes(), fixture("version4.references"));
    let place = Place::SystemCall(Thread(4711));
    assert_eq!(found.roots.pop(), Some(Root { place, to: Node(2) }));
    let place = Place::Heap { block: HeapBlock(755), at: Bytes(8), is_garbage: false };
    assert_eq!(found.roots.pop(), Some(Root { place, to: Node(1) }));
    check(&found, Some("server.c:14"));
}

#[test]
fn corpus_does_not_crash() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/references");
    let mut count = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        memtrail_references::fuzz::references(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 3, "{count}");
}
