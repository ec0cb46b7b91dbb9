//! What fuzzing checks of the reader. Here rather than with the fuzz targets, so that tests can
//! replay their corpus.

use crate::merge::{Part, merge};
use crate::{Detail, Event, Follow, Reader, Tables};

/// What must not differ between two ways of reading.
type Digest = Vec<(u64, u64, usize)>;

fn digest(event: Event<'_>) -> (u64, u64, usize) {
    match event {
        Event::Alloc(alloc) => (alloc.time.0, alloc.id.0, alloc.backtrace.len()),
        Event::Promote(mark) => (mark.time.0, mark.id.0, usize::MAX - 1),
        Event::Collect(mark) => (mark.time.0, mark.id.0, usize::MAX),
    }
}

fn check(event: Event<'_>, tables: &Tables) {
    if let Event::Alloc(alloc) = event {
        assert!(alloc.common_prefix <= alloc.backtrace.len());
        if alloc.stack.0 != 0 {
            let frame = tables.stacks.frame(alloc.stack);
            assert_eq!(Some(&tables.locations.code(frame)), alloc.backtrace.last());
        }
    }
}

/// Reads any bytes in every detail: no panic, and the same events but for backtraces.
///
/// # Panics
/// If the reader is wrong.
pub fn read(bytes: &[u8]) {
    let Ok(reader) = Reader::new(bytes) else { return };
    let (mut codes, mut stacks) = (Digest::new(), Digest::new());
    let decoded = reader.for_each(Detail::Codes, |event, tables| {
        check(event, tables);
        codes.push(digest(event));
    });
    let again = reader.for_each(Detail::Stacks, |event, tables| {
        check(event, tables);
        stacks.push(digest(event));
    });
    assert_eq!(codes, stacks);
    assert_eq!(decoded.anomalies.list(), again.anomalies.list());
    assert_eq!(decoded.packets, again.packets);
    for anomaly in decoded.anomalies.list() {
        assert!(anomaly.offset <= bytes.len() as u64, "{anomaly}");
    }
    reader.for_each(Detail::Marks, |_, _| {});
    let part = Part { trace: &reader, name: b"process", file: b"", freed: Some(decoded.end) };
    let mut merged = Vec::new();
    if merge(&[part, part], reader.info(), &mut merged, &mut |_| {}).is_ok() {
        Reader::new(&merged).expect("what was written can be read");
    }
}

/// Reads bytes as a file that grows in pieces of the sizes that the first bytes give. Where all
/// is well with the whole of it, the pieces must give the same events.
///
/// # Panics
/// If the reader is wrong.
pub fn follow(bytes: &[u8]) {
    let Some((sizes, trace)) = bytes.split_first_chunk::<4>() else { return };
    let mut follow = Follow::new(Detail::Codes);
    let mut events = Digest::new();
    let mut there = 0;
    for size in sizes.iter().cycle() {
        if there >= trace.len() {
            break;
        }
        there = trace.len().min(there + (usize::from(*size) + 1) * 4);
        let tail = trace.get(follow.offset() as usize..there).unwrap_or_default();
        follow.advance(tail, |event, _| events.push(digest(event)));
    }
    let tail = trace.get(follow.offset() as usize..).unwrap_or_default();
    let finished = follow.finish(tail, |event, _| events.push(digest(event)));
    let whole = Reader::new(trace);
    assert_eq!(finished.is_ok(), whole.is_ok());
    let Ok(reader) = whole else { return };
    let mut expected = Digest::new();
    let decoded = reader.for_each(Detail::Codes, |event, _| expected.push(digest(event)));
    if decoded.anomalies.is_empty() {
        assert_eq!(events, expected);
    }
}
