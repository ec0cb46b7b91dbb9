//! Traces of other recorders, against totals from elsewhere and against the oracle.

use memtrail_trace::{Detail, Event, FrameId, Reader, Source, StackId};

use crate::read::oracle::Oracle;
use crate::read::{FIXTURES, Seen, events, fixture, seen, spelled_at};

/// What a decoder in Python says, written from the specification by someone else and run over
/// these files (it also checks every cache verifier and all ids).
struct Totals {
    name: &'static str,
    packets: u64,
    minor: u64,
    major: u64,
    promoted: u64,
    collected: u64,
    samples: u64,
    /// Sum of all backtraces' lengths.
    frames: u64,
    deepest: usize,
    codes: usize,
}

const TOTALS: [Totals; 4] = [
    Totals {
        name: "lists_and_sets-v1.ctf",
        packets: 3,
        minor: 756,
        major: 0,
        promoted: 216,
        collected: 755,
        samples: 758,
        frames: 780_843,
        deepest: 9982,
        codes: 22,
    },
    Totals {
        name: "cache-v2.ctf",
        packets: 7,
        minor: 7027,
        major: 6,
        promoted: 579,
        collected: 6465,
        samples: 7054,
        frames: 146_195,
        deepest: 45,
        codes: 37,
    },
    Totals {
        name: "ocamlopt-upstream.ctf",
        packets: 31,
        minor: 1666,
        major: 10,
        promoted: 257,
        collected: 1566,
        samples: 1676,
        frames: 194_241,
        deepest: 547,
        codes: 1949,
    },
    Totals {
        name: "domains-v3.ctf",
        packets: 5,
        minor: 2466,
        major: 0,
        promoted: 48,
        collected: 2459,
        samples: 2471,
        frames: 7979,
        deepest: 4,
        codes: 7,
    },
];

#[test]
fn totals_are_those_of_the_python_decoder() {
    for expected in TOTALS {
        let trace = fixture(expected.name);
        let reader = Reader::new(&trace).unwrap();
        let (mut minor, mut major, mut promoted, mut collected) = (0, 0, 0, 0);
        let (mut samples, mut frames, mut deepest) = (0, 0, 0);
        let decoded = reader.for_each(Detail::Codes, |event, _| match event {
            Event::Alloc(alloc) => {
                match alloc.source {
                    Source::Minor => minor += 1,
                    Source::Major => major += 1,
                    Source::External => panic!("none in these traces"),
                }
                samples += alloc.samples;
                frames += alloc.backtrace.len() as u64;
                deepest = deepest.max(alloc.backtrace.len());
            }
            Event::Promote(_) => promoted += 1,
            Event::Collect(_) => collected += 1,
        });
        let name = expected.name;
        assert_eq!(decoded.packets, expected.packets, "{name}");
        assert_eq!((minor, major), (expected.minor, expected.major), "{name}");
        assert_eq!((promoted, collected), (expected.promoted, expected.collected), "{name}");
        assert_eq!((samples, frames), (expected.samples, expected.frames), "{name}");
        assert_eq!(deepest, expected.deepest, "{name}");
        assert_eq!(decoded.tables.locations.frames(), expected.codes, "{name}");
        assert!(decoded.anomalies.is_empty(), "{name}: {:?}", decoded.anomalies.list());
    }
}

#[test]
fn information_is_read() {
    let trace = fixture("lists_and_sets-v1.ctf");
    let reader = Reader::new(&trace).unwrap();
    let info = reader.info();
    assert!((info.sample_rate.0 - 1e-3).abs() < 1e-12);
    assert_eq!((info.word_bits, info.pid, info.host.as_str()), (64, 17210, "tarski"));
    assert_eq!(info.start.0, 1_586_965_748_856_814);
    assert_eq!(info.context, None);
    assert!(info.executable.ends_with("/bin/lists_and_sets.exe"));
    let trace = fixture("domains-v3.ctf");
    let reader = Reader::new(&trace).unwrap();
    assert_eq!(reader.info().context.as_deref(), Some("d"));
}

#[test]
fn every_event_and_location_is_the_oracles() {
    for name in FIXTURES {
        let trace = fixture(name);
        let oracle = Oracle::read(&trace);
        assert_eq!(events(&trace), oracle.events, "{name}");
        assert!(oracle.verified > 0, "{name} has something to verify");
        let decoded = Reader::new(&trace).unwrap().for_each(Detail::Marks, |_, _| {});
        assert_eq!(decoded.packets, oracle.packets);
        for (&code, expected) in &oracle.locations {
            assert_eq!(&spelled_at(&decoded.tables, code), expected, "{name}, code {code:#x}");
        }
    }
}

#[test]
fn details_differ_only_in_backtraces() {
    for name in FIXTURES {
        let trace = fixture(name);
        let reader = Reader::new(&trace).unwrap();
        let mut expected = events(&trace).into_iter();
        reader.for_each(Detail::Stacks, |event, tables| {
            assert_eq!(Some(seen(&event)), expected.next());
            if let Event::Alloc(alloc) = event {
                let mut path: Vec<_> = tables.stacks.path(alloc.stack).collect();
                path.reverse();
                let codes = path.iter().map(|&frame| tables.locations.code(frame));
                assert!(codes.eq(alloc.backtrace.iter().copied()));
            }
        });
        assert_eq!(expected.next(), None);
        let mut expected = events(&trace).into_iter().map(|mut event| {
            if let Seen::Alloc { backtrace, .. } = &mut event {
                backtrace.clear();
            }
            event
        });
        reader.for_each(Detail::Marks, |event, _| assert_eq!(Some(seen(&event)), expected.next()));
        assert_eq!(expected.next(), None);
    }
}

#[test]
fn common_prefixes_hold_with_the_backtrace_before() {
    for name in FIXTURES {
        let trace = fixture(name);
        let mut last: Vec<_> = Vec::new();
        Reader::new(&trace).unwrap().for_each(Detail::Codes, |event, _| {
            if let Event::Alloc(alloc) = event {
                let prefix = alloc.common_prefix;
                assert_eq!(alloc.backtrace[..prefix], last[..prefix]);
                last = alloc.backtrace.to_vec();
            }
        });
    }
}

#[test]
fn nodes_are_few_and_frames_are_defined() {
    let trace = fixture("lists_and_sets-v1.ctf");
    let decoded = Reader::new(&trace).unwrap().for_each(Detail::Stacks, |_, _| {});
    let (stacks, locations) = (&decoded.tables.stacks, &decoded.tables.locations);
    // 780,843 frames in 756 backtraces of up to 9,982.
    assert_eq!(stacks.len(), 20_834);
    assert!((0..locations.frames()).all(|frame| locations.is_defined(FrameId(frame as u32))));
    assert_eq!(stacks.path(StackId::ROOT).count(), 0);
}
