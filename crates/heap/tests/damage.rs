//! Files that are not as the writer left them: read as far as they are whole, or refused with where
//! and why.

use memtrail_heap::model::{Heap, Value};
use memtrail_heap::read::{Cause, Columns, Snapshot, Strength};
use memtrail_heap::{RootKind, fuzz, tag};
use proptest::prelude::*;

/// A heap with something of everything.
fn heap(blocks: usize) -> Heap {
    let mut heap = Heap::new();
    heap.contents = true;
    heap.facts.program = b"program".to_vec();
    heap.facts.counters = vec![(b"minor_collections".to_vec(), 3)];
    let mut last = heap.string(b"the end");
    for block in 0..blocks {
        let text = heap.string(format!("cell {block}").as_bytes());
        last = heap.block(0, &[Value::Block(text), Value::Block(last), Value::Int(1)]);
    }
    let wide = heap.block(0, &vec![Value::Block(last); 70]);
    let info = Value::Raw(1 << 56 | 2 << 1 | 1);
    let closure = heap.block(tag::CLOSURE, &[Value::Raw(8), info, Value::Block(wide)]);
    let custom = heap.block(tag::CUSTOM, &[Value::Raw(16), Value::Raw(100)]);
    let stack = heap.block(tag::CONTINUATION, &[Value::Int(0), Value::Block(custom)]);
    let ephemeron = heap.ephemeron(Some(Value::Block(stack)), &[Some(Value::Block(closure))]);
    heap.root(RootKind::GlobalC, "cells", Value::Block(closure), Strength::Strong);
    heap.root(RootKind::Finaliser, "late", Value::Block(ephemeron), Strength::Finaliser);
    heap.sample(custom, 9);
    heap
}

/// Where sections start, after the header's sixteen bytes.
fn sections(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 16;
    while at < bytes.len() {
        starts.push(at);
        let stored = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap());
        at += 24 + stored as usize;
    }
    starts
}

#[test]
fn a_file_cut_off_anywhere_is_read_as_far_as_it_goes() {
    let bytes = heap(30).bytes();
    let whole = Snapshot::read(&bytes).unwrap();
    assert_eq!(whole.damage, None);
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        fuzz::read(cut);
        match Snapshot::read(cut) {
            Ok(cut) => {
                let damage = cut.damage.expect("damage of a file that is not whole");
                assert_eq!((damage.offset, damage.cause), (length as u64, Cause::Truncated));
                assert!(cut.blocks() <= whole.blocks());
            }
            Err(error) => assert!(error.offset <= length as u64, "{error}"),
        }
    }
}

#[test]
fn a_changed_byte_is_found_where_it_is() {
    let bytes = heap(30).bytes();
    let starts = sections(&bytes);
    for at in 16..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fuzz::read(&changed);
        let section = *starts.iter().rfind(|start| **start <= at).unwrap();
        let error = match Snapshot::read(&changed) {
            Ok(snapshot) => snapshot.damage.expect("a checksum that does not match"),
            Err(error) => error,
        };
        // A length that was changed may reach beyond the end.
        assert!(
            error.offset == section as u64 || error.cause == Cause::Truncated,
            "{error} for {at}"
        );
    }
}

#[test]
fn what_is_no_snapshot_is_refused() {
    assert_eq!(Snapshot::read(b"").unwrap_err().cause, Cause::Magic);
    assert_eq!(Snapshot::read(b"\x7fELF").unwrap_err().cause, Cause::Magic);
    let mut later = heap(1).bytes();
    later[6] = 9;
    let error = Snapshot::read(&later).unwrap_err();
    assert_eq!(error.cause, Cause::Version(9));
    assert_eq!(
        error.to_string(),
        "at byte 6: heap snapshot of version 9, and this reader knows up to version 1"
    );
}

#[test]
fn the_pause_may_be_written_later() {
    let mut bytes = heap(1).bytes();
    let at = memtrail_heap::write::PAUSE_AT as usize;
    bytes[at..at + 8].copy_from_slice(&1_234_567u64.to_le_bytes());
    let snapshot = Snapshot::read(&bytes).unwrap();
    assert_eq!((snapshot.facts.pause, snapshot.damage), (1_234_567, None));
}

#[test]
fn everything_written_is_read_again() {
    let heap = heap(100_000);
    let mut bytes = Vec::new();
    let written = heap.write(&mut bytes).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    assert_eq!((written.blocks, snapshot.blocks() as usize), (heap.len() as u64, heap.len()));
    assert!(snapshot.sections() > 3);
    let (mut edges, mut columns) = (0, Columns::new());
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns).unwrap();
        edges += columns.edges().len() as u64;
    }
    assert_eq!((edges, edges), (written.edges, snapshot.totals.edges));
    assert_eq!(snapshot.functions[0].name, b"Module.f8");
    assert_eq!(snapshot.customs[0], b"_custom16");
    assert_eq!((snapshot.samples.len(), snapshot.samples[0].id), (1, 9));
    assert_eq!(snapshot.ephemerons[0].keys.len(), 1);
    let mut texts = 0;
    snapshot
        .contents(|_, _, text| texts += u64::from(text.starts_with(b"cell ") || text == b"the end"))
        .unwrap();
    assert_eq!(texts, 100_001);
}

/// The corpora hold what fuzzing starts from and whatever it once found.
#[test]
fn the_fuzzers_corpora_are_read_without_panic() {
    let replay = |target: &str, run: fn(&[u8])| {
        let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let mut inputs = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            run(&std::fs::read(entry.unwrap().path()).unwrap());
            inputs += 1;
        }
        assert!(inputs > 0, "{folder} is empty");
    };
    replay("read", fuzz::read);
    replay("sections", fuzz::sections);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Bytes changed behind the checksums: wrong numbers in every table.
    #[test]
    fn wrong_numbers_are_errors_or_another_heap(
        changes in proptest::collection::vec((0usize..4096, any::<u8>()), 1..6),
    ) {
        let mut unpacked = fuzz::unpack(&heap(12).bytes());
        let length = unpacked.len();
        for (at, byte) in changes {
            unpacked[at % length] = byte;
        }
        fuzz::sections(&unpacked);
    }
}
