//! Merged traces against their parts: every event is there once, under its process.

use std::collections::HashMap;

use memtrail_trace::merge::{Copied, Part, merge};
use memtrail_trace::{BlockId, Detail, Event, Reader, Source, Timestamp, TraceInfo};

const FIXTURES: [&str; 3] = ["cache-v2.ctf", "domains-v3.ctf", "lists_and_sets-v1.ctf"];

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What happened to a block, with its frames spelled out, outermost first.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    time: u64,
    length: u64,
    samples: u64,
    source: Source,
    frames: Vec<String>,
    promoted: Option<u64>,
    collected: Option<u64>,
}

fn blocks(reader: &Reader<'_>) -> HashMap<BlockId, Block> {
    let (mut blocks, mut marks) = (HashMap::new(), Vec::new());
    let decoded = reader.for_each(Detail::Codes, |event, tables| match event {
        Event::Alloc(a) => {
            let locations = &tables.locations;
            let names = a.backtrace.iter().map(|&code| {
                let sites = locations.of(code).iter().map(|&site| {
                    let at = locations.resolve(site);
                    let name = String::from_utf8_lossy(at.function);
                    format!("{name} {}:{}", at.line, at.start_col)
                });
                sites.collect::<Vec<_>>().join("|")
            });
            let block = Block {
                time: a.time.0,
                length: a.length.0,
                samples: a.samples,
                source: a.source,
                frames: names.collect(),
                promoted: None,
                collected: None,
            };
            assert!(blocks.insert(a.id, block).is_none(), "{:?} is there twice", a.id);
        }
        Event::Promote(mark) => marks.push((mark, false)),
        Event::Collect(mark) => marks.push((mark, true)),
    });
    assert_eq!(decoded.anomalies.total(), 0, "{:?}", decoded.anomalies.list());
    for (mark, is_end) in marks {
        let block = blocks.get_mut(&mark.id).expect("a block that was allocated");
        *(if is_end { &mut block.collected } else { &mut block.promoted }) = Some(mark.time.0);
    }
    blocks
}

fn merged(parts: &[Part<'_>]) -> (Vec<u8>, Vec<Copied>) {
    let start = parts.iter().map(|part| part.trace.info().start).min().expect("a part");
    let info = TraceInfo { start, ..parts[0].trace.info().clone() };
    let mut copied = Vec::new();
    let mut trace = Vec::new();
    let decoded = merge(parts, &info, &mut trace, &mut |block| copied.push(block)).unwrap();
    assert_eq!(decoded.len(), parts.len());
    (trace, copied)
}

#[test]
fn every_block_of_every_part_is_there_under_its_process() {
    let files = FIXTURES.map(fixture);
    let readers = files.each_ref().map(|file| Reader::new(file).unwrap());
    // The first twice: equal programs are two processes.
    let traces = [&readers[0], &readers[1], &readers[2], &readers[0]];
    let names: [&[u8]; 4] = [b"[a-1]", b"[b-2]", b"[c-3]", b"[a-4]"];
    let part = |(trace, name)| Part { trace, name, file: b"/bin/x", freed: None };
    let parts: Vec<Part<'_>> = traces.into_iter().zip(names).map(part).collect();
    let (trace, copied) = merged(&parts);
    let all = blocks(&Reader::new(&trace).unwrap());
    let of_part: Vec<_> = parts.iter().map(|part| blocks(part.trace)).collect();
    assert_eq!(all.len(), of_part.iter().map(HashMap::len).sum::<usize>());
    assert_eq!(all.len(), copied.len());
    for Copied { part, from, to } in copied {
        let (mut old, new) = (of_part[part][&from.1].clone(), all[&to.1].clone());
        let name = String::from_utf8_lossy(parts[part].name);
        old.frames.insert(0, format!("{name} 0:0"));
        assert_eq!(new, old);
    }
}

#[test]
fn what_is_live_at_the_end_of_a_process_is_freed_then() {
    let files = FIXTURES.map(fixture);
    let readers = files.each_ref().map(|file| Reader::new(file).unwrap());
    let end = readers[0].for_each(Detail::Marks, |_, _| {}).end;
    let freed = Timestamp(end.0 + 1_000_000);
    let first = Part { trace: &readers[0], name: b"[a]", file: b"", freed: Some(freed) };
    let second = Part { trace: &readers[1], name: b"[b]", file: b"", freed: None };
    let (trace, copied) = merged(&[first, second]);
    let all = blocks(&Reader::new(&trace).unwrap());
    let old = [blocks(&readers[0]), blocks(&readers[1])];
    let mut live = [0, 0];
    for Copied { part, from, to } in copied {
        let expected = match old[part][&from.1].collected {
            None => {
                live[part] += 1;
                (part == 0).then_some(freed.0)
            }
            time => time,
        };
        assert_eq!(all[&to.1].collected, expected);
    }
    assert!(live[0] > 0 && live[1] > 0, "{live:?}");
}
