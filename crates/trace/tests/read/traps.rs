//! Where practice differs from the specification.

use memtrail_trace::{Cause, Code, Detail, Event, Reader};
use proptest::prelude::*;

use crate::read::oracle::Oracle;
use crate::read::packets::{Packet, Raw, miss, trace};
use crate::read::{Seen, events, spelled_at};

#[test]
fn a_prefix_beyond_the_backtrace_keeps_it_and_fills_the_cache() {
    let two = [miss(1, 11), miss(2, 12)].concat();
    let beyond = [miss(1, 13), miss(3, 14)].concat();
    let hits = [1_u16 << 2, 3 << 2].map(u16::to_le_bytes).concat();
    let packet = Packet::new(0).alloc(0, 2, &two).alloc(5, 2, &beyond).alloc(1, 2, &hits);
    let trace = trace(2, &[packet]);
    let mut found = Vec::new();
    for detail in [Detail::Codes, Detail::Stacks] {
        found.clear();
        let decoded = Reader::new(&trace).unwrap().for_each(detail, |event, tables| {
            let Event::Alloc(alloc) = event else { panic!("only allocations") };
            found.push((alloc.common_prefix, alloc.backtrace.to_vec()));
            if detail == Detail::Stacks {
                let path = tables.stacks.path(alloc.stack).map(|f| tables.locations.code(f));
                assert!(path.eq(alloc.backtrace.iter().rev().copied()));
            }
        });
        assert!(decoded.anomalies.is_empty());
        let codes = |codes: &[u64]| -> Vec<Code> { codes.iter().copied().map(Code).collect() };
        assert_eq!(found[0], (0, codes(&[11, 12])));
        assert_eq!(found[1], (2, codes(&[11, 12])), "as it was");
        assert_eq!(found[2], (1, codes(&[11, 13, 14])), "the cache has what was thrown away");
    }
    let oracle = Oracle::read(&trace);
    assert_eq!(oracle.cut_backtraces, 1);
    assert_eq!(events(&trace), oracle.events);
}

#[test]
fn a_bucket_that_nothing_has_filled_is_a_frame_of_its_own() {
    let codewords = [&miss(1, 11)[..], &(5_u16 << 2).to_le_bytes()].concat();
    let trace = trace(2, &[Packet::new(0).alloc(0, 2, &codewords)]);
    Reader::new(&trace).unwrap().for_each(Detail::Stacks, |event, tables| {
        let Event::Alloc(alloc) = event else { panic!("only allocations") };
        assert_eq!(alloc.backtrace, [Code(11), Code(0)]);
        let path = tables.stacks.path(alloc.stack).map(|frame| tables.locations.code(frame));
        assert_eq!(path.collect::<Vec<_>>(), [Code(0), Code(11)]);
    });
}

#[test]
fn codes_have_63_bits_and_vints_a_sign() {
    let mut packet = Packet::new(100).alloc(0, 1, &miss(9, !0));
    let deltas: [(&[u8], u64); 5] = [
        (&[252], 100_u64.wrapping_sub(252)),
        (&[253, 0xFF, 0xFF], 100_u64.wrapping_sub(0xFFFF)),
        (&[254, 0xFF, 0xFF, 0xFF, 0xFF], 101),
        (&[255, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], 102),
        (&[255, 1, 0, 0, 0, 0, 0, 0, 0x80], 99),
    ];
    let mut expected = Vec::new();
    for (bytes, id) in deltas {
        packet = packet.event(4, bytes);
        expected.push(id);
    }
    let trace = trace(3, &[packet]);
    let found = events(&trace);
    assert_eq!(found, Oracle::read(&trace).events);
    let Seen::Alloc { backtrace, .. } = &found[0] else { panic!("an allocation") };
    assert_eq!(backtrace, &[!0 >> 1]);
    let ids = found[1..].iter().map(|event| match event {
        Seen::Collect { id, .. } => *id,
        other => panic!("{other:?}"),
    });
    assert_eq!(ids.collect::<Vec<_>>(), expected);
}

#[test]
fn a_new_file_takes_over_the_functions_of_the_one_it_pushes_out() {
    let names: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let mut packet = Packet::new(0);
    for (code, name) in (1..).zip(&names) {
        let function = if code <= 31 { (31, name.as_str()) } else { (0, "") };
        let raw = Raw { line: 1, start: 2, end: 3, file: (31, name), function };
        packet = packet.location(code, &[raw]);
    }
    let trace = trace(1, &[packet]);
    let oracle = Oracle::read(&trace);
    let decoded = Reader::new(&trace).unwrap().for_each(Detail::Codes, |_, _| {});
    assert!(decoded.anomalies.is_empty(), "{:?}", decoded.anomalies.list());
    for code in 1..=40 {
        assert_eq!(spelled_at(&decoded.tables, code), oracle.locations[&code]);
    }
    let (function, file, ..) = &spelled_at(&decoded.tables, 32)[0];
    assert_eq!((function.as_str(), file.as_str()), ("0", "31"));
}

#[test]
fn the_first_definition_of_a_code_stays() {
    let raw =
        |line, index| Raw { line, start: 0, end: 9, file: (index, "a.ml"), function: (index, "f") };
    let packet = Packet::new(0)
        .location(5, &[raw(1, 31)])
        .location(5, &[raw(1, 0)])
        .location(5, &[raw(2, 0)])
        .location(6, &[]);
    let trace = trace(2, &[packet]);
    let decoded = Reader::new(&trace).unwrap().for_each(Detail::Marks, |_, _| {});
    assert_eq!(decoded.anomalies.total(), 1);
    assert_eq!(decoded.anomalies.list()[0].cause, Cause::Redefined(5));
    assert_eq!(spelled_at(&decoded.tables, 5)[0].2, 1);
    let locations = &decoded.tables.locations;
    let six = locations.frame(Code(6)).expect("met");
    assert!(locations.is_defined(six));
    assert_eq!(locations.at(six), []);
}

/// The tables of an encoder, as plain lists of names.
#[derive(Default)]
struct Encoder {
    files: Vec<(String, Vec<String>)>,
}

impl Encoder {
    /// Indices for these names.
    fn indices(&mut self, file: &str, function: &str) -> (u64, u64) {
        let file_at = self.files.iter().position(|(name, _)| name == file);
        let entry = match file_at {
            Some(at) => self.files.remove(at),
            None => (file.to_string(), Vec::new()),
        };
        self.files.insert(0, entry);
        self.files.truncate(31);
        let functions = &mut self.files[0].1;
        let function_at = functions.iter().position(|name| name == function);
        if let Some(at) = function_at {
            functions.remove(at);
        }
        functions.insert(0, function.to_string());
        functions.truncate(31);
        (file_at.unwrap_or(31) as u64, function_at.unwrap_or(31) as u64)
    }
}

/// Locations of (file, function, start, end), one a code from 1 on, as the bug writes them.
fn with_wide_columns(locations: &[(usize, usize, u64, u64)]) -> Vec<u8> {
    let mut encoder = Encoder::default();
    let mut packet = Packet::new(0);
    for (code, &(file, function, start, end)) in (1..).zip(locations) {
        let (file, function) = (format!("m{file}.ml"), format!("M{file}.f{function}"));
        let (file_index, function_index) = encoder.indices(&file, &function);
        let file = (file_index, file.as_str());
        let function = (function_index, function.as_str());
        packet = packet.location(code, &[Raw { line: 3, start, end, file, function }]);
    }
    trace(2, &[packet])
}

fn names_are_right(locations: &[(usize, usize, u64, u64)]) -> u64 {
    let trace = with_wide_columns(locations);
    let decoded = Reader::new(&trace).unwrap().for_each(Detail::Marks, |_, _| {});
    for (code, &(file, function, ..)) in (1..).zip(locations) {
        let found = spelled_at(&decoded.tables, code);
        assert_eq!(found.len(), 1, "{:?}", decoded.anomalies.list());
        assert_eq!(found[0].0, format!("M{file}.f{function}"), "code {code}");
        assert_eq!(found[0].1, format!("m{file}.ml"));
    }
    assert_eq!(decoded.anomalies.count("columns"), decoded.anomalies.total());
    match decoded.anomalies.list() {
        [] => 0,
        [one] => match one.cause {
            Cause::Columns(count) => count,
            other => panic!("{other}"),
        },
        more => panic!("{more:?}"),
    }
}

#[test]
fn wide_columns_that_make_an_index_impossible_are_repaired() {
    assert_eq!(names_are_right(&[(0, 0, 1, 2), (1, 0, 1, 2), (1, 1, 5, 5000), (0, 0, 1, 2)]), 1);
}

#[test]
fn wide_columns_that_announce_a_name_that_is_not_there_are_repaired() {
    // 29 files, then the oldest: index 28, which reads as 31.
    let mut locations: Vec<_> = (0..29).map(|file| (file, 0, 1, 2)).collect();
    locations.push((0, 0, 7, 4095));
    locations.extend((20..29).map(|file| (file, 1, 1, 2)));
    assert_eq!(names_are_right(&locations), 1);
}

proptest! {
    #[test]
    fn in_one_file_any_wide_columns_are_repaired(
        locations in prop::collection::vec((Just(0_usize), 0..40_usize, 0..256_u64, 0..6000_u64), 1..60),
    ) {
        let damaged = |&(_, _, _, end): &(usize, usize, u64, u64)| end.min(4095) > 1023;
        let wide = locations[1..].iter().filter(|location| damaged(location)).count();
        prop_assert_eq!(names_are_right(&locations), wide as u64);
    }

    #[test]
    fn in_many_files_wide_columns_end_nothing(
        locations in prop::collection::vec((0..40_usize, 0..40_usize, 0..6000_u64, 0..6000_u64), 1..60),
    ) {
        let trace = with_wide_columns(&locations);
        let decoded = Reader::new(&trace).unwrap().for_each(Detail::Marks, |_, _| {});
        prop_assert!(decoded.tables.locations.frames() > 0);
        prop_assert_eq!(decoded.packets, 2);
    }
}
