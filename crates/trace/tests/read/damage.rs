//! Damaged traces: what is readable is read, what is not is reported, and nothing panics.

use memtrail_trace::header::{Header, LEN_V3};
use memtrail_trace::{Anomalies, Cause, Detail, Error, Event, Reader, Timestamp};
use proptest::prelude::*;

use crate::read::{FIXTURES, Seen, events, fixture, seen};

/// Events and anomalies of a trace that may be damaged.
fn read(trace: &[u8]) -> Result<(Vec<Seen>, Anomalies), Error> {
    let mut events = Vec::new();
    let decoded =
        Reader::new(trace)?.for_each(Detail::Stacks, |event, _| events.push(seen(&event)));
    assert_eq!(decoded.anomalies.counts().map(|(_, n)| n).sum::<u64>(), decoded.anomalies.total());
    Ok((events, decoded.anomalies))
}

/// The packets of a sound trace: where each begins, and its header.
fn packets(trace: &[u8]) -> Vec<(usize, Header)> {
    let mut packets = Vec::new();
    let mut at = 0;
    while at < trace.len() {
        let header = Header::parse(&trace[at..]).expect("a header");
        packets.push((at, header));
        at += header.size;
    }
    packets
}

fn put_header(trace: &mut [u8], at: usize, header: &Header) {
    let len = header.header_len();
    trace[at..at + len].copy_from_slice(&header.encode()[..len]);
}

/// The only anomaly there is, but for those that follow from it.
fn first_cause(anomalies: &Anomalies) -> Option<Cause> {
    anomalies.list().first().map(|anomaly| anomaly.cause)
}

fn rank(event: &Seen) -> (u64, bool) {
    match event {
        Seen::Alloc { id, .. } => (*id, true),
        Seen::Promote { time, .. } | Seen::Collect { time, .. } => (*time, false),
    }
}

#[test]
fn nothing_at_all_is_an_error_that_says_so() {
    assert_eq!(read(b"").unwrap_err(), Error::Empty);
    assert_eq!(read(b"#!/bin/sh\n").unwrap_err(), Error::NotATrace(b"#!/bin/s".to_vec()));
    assert!(matches!(read(&[0; 5000]).unwrap_err(), Error::NotATrace(_)));
    let trace = fixture("cache-v2.ctf");
    assert_eq!(read(&trace[..40]).unwrap_err(), Error::NoInfo);
    let second = packets(&trace)[1].0;
    assert_eq!(read(&trace[second..]).unwrap_err(), Error::NoInfo);
    let mut newer = trace;
    newer[28] = 4;
    assert_eq!(read(&newer[..1000]).unwrap_err(), Error::Version(4));
}

#[test]
fn cut_at_any_byte_a_trace_gives_the_events_before() {
    for name in ["lists_and_sets-v1.ctf", "domains-v3.ctf"] {
        let trace = fixture(name);
        let whole = events(&trace);
        let packets = packets(&trace);
        let info = packets[0].1.size;
        let mut most = 0;
        for cut in (0..trace.len()).step_by(if cfg!(debug_assertions) { 23 } else { 1 }) {
            let part = &trace[..cut];
            if cut < info {
                assert!(Reader::new(part).is_err());
                continue;
            }
            let mut count = 0;
            let decoded = Reader::new(part).unwrap().for_each(Detail::Codes, |event, _| {
                // What comes before has been compared with shorter cuts.
                if count + 40 > most {
                    assert_eq!(seen(&event), whole[count], "{name} cut at {cut}");
                }
                count += 1;
            });
            assert!(count >= most, "{name} cut at {cut}: a longer file gives no fewer events");
            most = count;
            let is_between = packets.iter().any(|&(at, _)| at == cut);
            assert_eq!(decoded.anomalies.total(), u64::from(!is_between), "{name} cut at {cut}");
        }
        assert!(most + 5 > whole.len());
    }
}

#[test]
fn the_end_inside_a_header_is_reported_with_its_offset() {
    let trace = fixture("cache-v2.ctf");
    let (last, _) = *packets(&trace).last().unwrap();
    let (found, anomalies) = read(&trace[..last + 30]).unwrap();
    assert_eq!(found, events(&trace[..last]));
    assert_eq!(anomalies.list()[0].offset, last as u64);
    assert_eq!(anomalies.list()[0].cause, Cause::TruncatedHeader(30));
    assert_eq!(
        anomalies.list()[0].to_string(),
        format!("at byte {last}: the file ends 30 bytes into a packet header")
    );
}

#[test]
fn zeros_at_the_end_are_harmless() {
    let mut trace = fixture("cache-v2.ctf");
    let (whole, len) = (events(&trace), trace.len());
    trace.resize(len + 70_000, 0);
    let (found, anomalies) = read(&trace).unwrap();
    assert_eq!(found, whole);
    assert_eq!(first_cause(&anomalies), Some(Cause::Padding(70_000)));
    assert_eq!((anomalies.total(), anomalies.serious()), (1, 0));
}

#[test]
fn garbage_between_packets_is_skipped() {
    let trace = fixture("cache-v2.ctf");
    let whole = events(&trace);
    for (at, _) in packets(&trace) {
        let garbage = b"\xC1\x1F\xFC\xC1 no packet \xC1\x1F\xFC".repeat(50);
        let mut longer = trace[..at].to_vec();
        longer.extend(&garbage);
        longer.extend(&trace[at..]);
        let (found, anomalies) = read(&longer).unwrap();
        assert_eq!(found, whole);
        assert_eq!(anomalies.total(), 1);
        assert_eq!(anomalies.list()[0].offset, at as u64);
        assert_eq!(first_cause(&anomalies), Some(Cause::Garbage(garbage.len() as u64)));
    }
}

#[test]
fn packets_of_other_processes_are_skipped_without_a_trace() {
    let trace = fixture("cache-v2.ctf");
    let whole = events(&trace);
    let (at, mut header) = packets(&trace)[3];
    let packet = &trace[at..at + header.size];
    let mut foreign = packet.to_vec();
    header.pid += 1;
    put_header(&mut foreign, 0, &header);
    let mut longer = trace[..at].to_vec();
    longer.extend(&foreign);
    longer.extend(&trace[at..]);
    let (found, anomalies) = read(&longer).unwrap();
    assert_eq!(found, whole);
    assert_eq!(first_cause(&anomalies), Some(Cause::ForeignPid(header.pid)));
    assert_eq!(anomalies.serious(), 0);
}

#[test]
fn packets_larger_than_memtraces_buffer_are_read() {
    // Two packets of one domain made one: the second's cache and ids go on where the first's end.
    let trace = fixture("cache-v2.ctf");
    let packets = packets(&trace);
    let ((first, mut header), (second, next)) = (packets[3], packets[4]);
    header.size += next.size - next.header_len();
    header.end = next.end;
    header.end_id = next.end_id;
    assert!(next.end.0 - header.begin.0 < 1 << 25);
    let mut joined = trace[..second].to_vec();
    joined.extend(&trace[second + next.header_len()..]);
    put_header(&mut joined, first, &header);
    let (found, anomalies) = read(&joined).unwrap();
    assert_eq!(found, events(&trace));
    assert_eq!(first_cause(&anomalies), Some(Cause::LargePacket(header.size as u64)));
    assert_eq!(anomalies.serious(), 0);
}

#[test]
fn a_clock_set_back_between_packets_moves_later_times_on() {
    let trace = fixture("cache-v2.ctf");
    let packets = packets(&trace);
    let mut back = trace.clone();
    for &(at, mut header) in &packets[4..] {
        // An hour back, by a multiple of the 2^25 µs that event headers leave out.
        let hour = 107 << 25;
        header.begin.0 -= hour;
        header.end.0 -= hour;
        put_header(&mut back, at, &header);
    }
    let (found, anomalies) = read(&back).unwrap();
    let whole = events(&trace);
    assert_eq!(found.len(), whole.len());
    let times = |events: &[Seen]| -> Vec<u64> {
        events
            .iter()
            .map(|event| match event {
                Seen::Alloc { time, .. }
                | Seen::Promote { time, .. }
                | Seen::Collect { time, .. } => *time,
            })
            .collect()
    };
    let (found, whole) = (times(&found), times(&whole));
    assert!(found.is_sorted());
    // The hour is undone but for the gap between the two packets.
    let (last, first) = (packets[3].1.end.0, packets[4].1.begin.0);
    let gap = first - last;
    assert!(found.iter().zip(&whole).all(|(found, whole)| *whole - *found <= gap));
    let back = (107 << 25) - gap;
    assert_eq!(first_cause(&anomalies), Some(Cause::ClockBackwards(back)));
    assert_eq!(anomalies.total(), 1);
}

#[test]
fn a_clock_set_back_inside_a_packet_loses_no_event() {
    let trace = fixture("cache-v2.ctf");
    let whole = events(&trace);
    // The header's end before its begin …
    let (at, mut header) = packets(&trace)[3];
    let mut bad = trace.clone();
    header.end = Timestamp(header.begin.0 - 5);
    put_header(&mut bad, at, &header);
    let (found, anomalies) = read(&bad).unwrap();
    assert_eq!(found, whole, "event headers have the low bits of the right times");
    assert_eq!(anomalies.count("packet-times"), 1);
    assert_eq!(anomalies.total(), 1);
    // … and times beyond an end that could be right.
    let (at, mut header) = packets(&trace)[3];
    let mut bad = trace.clone();
    header.end = header.begin;
    put_header(&mut bad, at, &header);
    let (found, anomalies) = read(&bad).unwrap();
    assert_eq!(found, whole);
    assert!(matches!(first_cause(&anomalies), Some(Cause::EventTime { .. })));
    assert_eq!(anomalies.total(), 1);
}

#[test]
fn a_first_id_that_the_rest_belies_is_not_believed() {
    let trace = fixture("cache-v2.ctf");
    let (at, mut header) = packets(&trace)[4];
    let mut bad = trace.clone();
    let expected = header.first_id;
    header.first_id ^= 1 << 20;
    put_header(&mut bad, at, &header);
    let (found, anomalies) = read(&bad).unwrap();
    assert_eq!(found, events(&trace));
    let found = expected ^ 1 << 20;
    assert_eq!(first_cause(&anomalies), Some(Cause::IdGap { expected, found }));
}

#[test]
fn a_missing_packet_makes_backtraces_suspect() {
    let trace = fixture("cache-v2.ctf");
    let (at, header) = packets(&trace)[3];
    let mut shorter = trace[..at].to_vec();
    shorter.extend(&trace[at + header.size..]);
    let mut suspect = 0;
    let decoded = Reader::new(&shorter).unwrap().for_each(Detail::Codes, |event, _| {
        if let Event::Alloc(alloc) = event {
            assert_eq!(alloc.suspect, alloc.id.0 >= header.end_id);
            suspect += u64::from(alloc.suspect);
        }
    });
    assert!(suspect > 0);
    assert!(matches!(first_cause(&decoded.anomalies), Some(Cause::IdGap { .. })));
}

#[test]
fn an_unknown_event_costs_the_rest_of_its_packet() {
    let trace = fixture("cache-v2.ctf");
    let (at, header) = packets(&trace)[3];
    let (first, _) = packets(&trace)[2];
    let before = events(&trace[..at]).len();
    assert!(first < at);
    let mut bad = trace.clone();
    let id = &mut bad[at + header.header_len() + 3]; // of the packet's first event
    *id = 60 << 1 | (*id & 1);
    let (found, anomalies) = read(&bad).unwrap();
    let whole = events(&trace);
    assert_eq!(found[..before], whole[..before]);
    let rest = &found[before..];
    let (at_next, _) = packets(&trace)[4];
    let of_packet = events(&trace[..at_next]).len() - before;
    assert_eq!(rest.len(), whole.len() - before - of_packet);
    assert_eq!(first_cause(&anomalies), Some(Cause::UnknownEvent(60)));
    assert_eq!(anomalies.list()[0].offset, (at + header.header_len()) as u64);
}

#[test]
fn a_wrong_size_does_not_hide_the_packets_after() {
    let trace = fixture("cache-v2.ctf");
    let packets = packets(&trace);
    let (at, mut header) = packets[3];
    for size in [header.size + 10_000, 1 << 27, header.size - 5, 100] {
        let mut bad = trace.clone();
        header.size = size;
        put_header(&mut bad, at, &header);
        let (found, anomalies) = read(&bad).unwrap();
        let last = packets.last().unwrap().1;
        let of_later = |event: &&Seen| rank(event).1 && rank(event).0 >= packets[4].1.first_id;
        let later = found.iter().filter(of_later).count() as u64;
        assert_eq!(later, last.end_id - packets[4].1.first_id, "size {size}");
        assert!(anomalies.serious() > 0);
    }
}

#[test]
fn trace_information_that_comes_late_or_twice() {
    let trace = fixture("domains-v3.ctf");
    let info = &trace[..packets(&trace)[0].1.size];
    let mut twice = info.to_vec();
    twice.extend(&trace);
    let (found, anomalies) = read(&twice).unwrap();
    assert_eq!(found, events(&trace));
    assert_eq!(first_cause(&anomalies), Some(Cause::RepeatedInfo));
    let (at, header) = packets(&trace)[1];
    let mut late = trace[at..at + header.size].to_vec();
    late.extend(info);
    let (found, anomalies) = read(&late).unwrap();
    assert_eq!(found, []);
    assert_eq!(first_cause(&anomalies), Some(Cause::BeforeInfo));
}

#[test]
fn every_version_in_one_file() {
    let mut trace = fixture("cache-v2.ctf");
    for (at, header) in packets(&fixture("cache-v2.ctf")) {
        if at > 0 {
            trace[at + 28] = 1; // version 1 packets have the same layout
        }
        assert_eq!(header.header_len() + 2, LEN_V3);
    }
    let (found, anomalies) = read(&trace).unwrap();
    assert_eq!(found, events(&fixture("cache-v2.ctf")));
    assert!(anomalies.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 64 } else { 4000 }))]

    #[test]
    fn flipped_bits_never_panic(
        name in prop::sample::select(&FIXTURES[..]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..6),
    ) {
        let mut trace = fixture(name);
        for (byte, bit) in flips {
            let at = byte.index(trace.len());
            trace[at] ^= 1 << bit;
        }
        let _ = read(&trace);
    }

    #[test]
    fn one_flipped_bit_of_a_header_loses_little(
        name in prop::sample::select(&FIXTURES[..]),
        packet in any::<prop::sample::Index>(),
        byte in 0..66_usize,
        bit in 0..8_u8,
    ) {
        let trace = fixture(name);
        let packets = packets(&trace);
        let (at, header) = packets[1 + packet.index(packets.len() - 1)];
        let mut bad = trace.clone();
        bad[at + byte] ^= 1 << bit;
        let (found, _) = read(&bad).unwrap();
        // All packets but this one, whose allocations may be lost, with those of the packet after
        // it where the size is the byte that is wrong.
        let allocs = |events: &[Seen]| events.iter().filter(|event| rank(event).1).count() as u64;
        let at_risk = packets.iter().filter(|&&(other, _)| other >= at).take(2);
        let at_risk: u64 = at_risk.map(|(_, header)| header.end_id - header.first_id).sum();
        prop_assert!(allocs(&found) + at_risk >= allocs(&events(&trace)), "header {header:?}");
    }

    #[test]
    fn cuts_and_copies_never_panic(
        name in prop::sample::select(&FIXTURES[..]),
        pieces in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 1..8),
    ) {
        let trace = fixture(name);
        let mut shuffled = Vec::new();
        for [from, to] in pieces {
            let (from, to) = (from.index(trace.len()), to.index(trace.len()));
            shuffled.extend(&trace[from.min(to)..from.max(to).min(from.min(to) + 9000)]);
        }
        let _ = read(&shuffled);
        let mut after_info = trace[..packets(&trace)[0].1.size].to_vec();
        after_info.extend(&shuffled);
        prop_assert!(read(&after_info).is_ok());
    }
}
