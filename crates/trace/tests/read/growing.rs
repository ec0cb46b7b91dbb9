//! A trace that grows gives the events of the whole one, in whatever pieces it comes.

use memtrail_trace::{Detail, Error, Follow};
use proptest::prelude::*;

use crate::read::{FIXTURES, Seen, events, fixture, seen};

fn follow(trace: &[u8], pieces: &[usize]) -> (Vec<Seen>, Follow) {
    let mut follow = Follow::new(Detail::Codes);
    let mut events = Vec::new();
    let mut there = 0;
    let mut pieces = pieces.iter().cycle();
    while there < trace.len() {
        there = trace.len().min(there + pieces.next().expect("a piece"));
        let tail = &trace[follow.offset() as usize..there];
        follow.advance(tail, |event, _| events.push(seen(&event)));
        assert!(follow.anomalies().is_empty(), "{:?}", follow.anomalies().list());
    }
    let tail = &trace[follow.offset() as usize..];
    follow.finish(tail, |event, _| events.push(seen(&event))).expect("information");
    (events, follow)
}

#[test]
fn fixtures_in_pieces() {
    for name in FIXTURES {
        let trace = fixture(name);
        for size in [1013, 40_000, 1_000_000] {
            let (found, follow) = follow(&trace, &[size]);
            assert_eq!(found, events(&trace), "{name}");
            assert!(follow.anomalies().is_empty());
            assert_eq!(follow.offset(), trace.len() as u64);
        }
    }
}

#[test]
fn a_partial_packet_waits_and_is_an_anomaly_only_at_the_end() {
    let trace = fixture("domains-v3.ctf");
    let cut = trace.len() - 10;
    let mut follow = Follow::new(Detail::Codes);
    let mut count = 0;
    follow.advance(&trace[..cut], |_, _| count += 1);
    assert!(follow.anomalies().is_empty());
    let (before, offset) = (count, follow.offset() as usize);
    assert!(offset < cut);
    follow.finish(&trace[offset..cut], |_, _| count += 1).unwrap();
    assert!(count > before, "what is there of the last packet is read");
    assert_eq!(follow.anomalies().count("truncated-packet"), 1);
}

#[test]
fn room_that_is_reserved_is_no_anomaly_until_the_end() {
    let trace = fixture("domains-v3.ctf");
    let mut reserved = trace.clone();
    reserved.resize(trace.len() + 100_000, 0);
    let mut follow = Follow::new(Detail::Codes);
    let mut found = Vec::new();
    follow.advance(&reserved, |event, _| found.push(seen(&event)));
    assert_eq!(follow.offset(), trace.len() as u64);
    assert!(follow.anomalies().is_empty());
    assert_eq!(found, events(&trace));
    follow.finish(&reserved[trace.len()..], |_, _| panic!("no more events")).unwrap();
    assert_eq!(follow.anomalies().count("padding"), 1);
    assert_eq!(follow.anomalies().serious(), 0);
}

#[test]
fn a_file_that_never_becomes_a_trace_is_an_error() {
    let mut empty = Follow::new(Detail::Codes);
    assert_eq!(empty.finish(&[], |_, _| {}), Err(Error::Empty));
    let mut text = Follow::new(Detail::Codes);
    text.advance(b"hello", |_, _| {});
    assert!(matches!(text.finish(b"hello, world", |_, _| {}), Err(Error::NotATrace(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_pieces_give_the_same_events(
        name in prop::sample::select(&FIXTURES[..]),
        pieces in prop::collection::vec(1..20_000_usize, 1..20),
    ) {
        let trace = fixture(name);
        let (found, _) = follow(&trace, &pieces);
        prop_assert!(found == events(&trace));
    }
}
