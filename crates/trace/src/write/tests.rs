//! What is written is read: random events, every crash image, every limit.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::header::{Header, MEMTRACE_PACKET};
use crate::info::{Location, Source, TraceInfo};
use crate::omitted;
use crate::read::{Decoded, Detail, Event, Reader};
use crate::units::{BlockId, Code, DomainId, SampleRate, Timestamp, Words};

const START: Timestamp = Timestamp(1_700_000_000_000_000);

fn info() -> TraceInfo {
    TraceInfo {
        sample_rate: SampleRate(1e-4),
        word_bits: 64,
        executable: "/usr/bin/cache".into(),
        host: "gödel".into(),
        runtime_params: "v=0x400".into(),
        pid: 4711,
        start: START,
        context: Some("nightly".into()),
    }
}

/// An event with everything in it, to compare what went in with what comes out.
#[derive(Clone, Debug, PartialEq)]
enum Fact {
    Alloc(Timestamp, BlockId, DomainId, AllocEvent, Vec<Code>),
    Promote(Timestamp, BlockId, DomainId),
    Collect(Timestamp, BlockId, DomainId),
}

impl Fact {
    fn of(&self) -> (BlockId, DomainId) {
        match *self {
            Self::Alloc(_, id, domain, ..)
            | Self::Promote(_, id, domain)
            | Self::Collect(_, id, domain) => (id, domain),
        }
    }

    fn domain(&self) -> DomainId {
        self.of().1
    }
}

/// What is said of each block, in the order in which it is said.
fn of_blocks(facts: &[Fact]) -> HashMap<BlockId, Vec<Fact>> {
    let mut blocks: HashMap<_, Vec<Fact>> = HashMap::new();
    for fact in facts {
        blocks.entry(fact.of().0).or_default().push(fact.clone());
    }
    blocks
}

fn facts(trace: &[u8]) -> (Vec<Fact>, Decoded) {
    let reader = Reader::new(trace).unwrap();
    let mut facts = Vec::new();
    let decoded = reader.for_each(Detail::Codes, |event, tables| match event {
        Event::Alloc(a) => {
            assert!(!a.suspect);
            for &code in a.backtrace {
                let frame =
                    tables.locations.frame(code).expect("code is used before it is defined");
                assert!(tables.locations.is_defined(frame), "{code:?}");
            }
            let event = AllocEvent { length: a.length, samples: a.samples, source: a.source };
            facts.push(Fact::Alloc(a.time, a.id, a.domain, event, a.backtrace.to_vec()));
        }
        Event::Promote(m) => facts.push(Fact::Promote(m.time, m.id, m.domain)),
        Event::Collect(m) => facts.push(Fact::Collect(m.time, m.id, m.domain)),
    });
    assert!(decoded.anomalies.is_empty(), "{:?}", decoded.anomalies.list());
    (facts, decoded)
}

fn small(length: u64) -> AllocEvent {
    AllocEvent { length: Words(length), samples: 1, source: Source::Minor }
}

fn at(now: u64) -> Timestamp {
    Timestamp(START.0 + now)
}

fn locate(_: Code, to: &mut Vec<Location<'_>>) {
    to.push(Location {
        function: b"Cache.add",
        file: b"cache.ml",
        line: 12,
        start_col: 4,
        end_col: 9,
    });
}

/// One domain's packets, as a caller of `StreamWriter` puts them together.
struct File {
    done: Vec<u8>,
    stream: StreamWriter<Vec<u8>>,
}

impl File {
    fn new() -> Self {
        let mut done = vec![0; MEMTRACE_PACKET];
        let len = info_packet(&mut done, &info(), Version::V2).unwrap();
        done.truncate(len);
        let buf = vec![0; MEMTRACE_PACKET];
        let stream =
            StreamWriter::new(buf, Version::V2, 4711, DomainId(0), START, BlockId(0)).unwrap();
        Self { done, stream }
    }

    fn put<T>(
        &mut self,
        now: Timestamp,
        mut event: impl FnMut(&mut StreamWriter<Vec<u8>>) -> Result<T, Refused>,
    ) -> T {
        event(&mut self.stream).unwrap_or_else(|refused| {
            assert_eq!(refused, Refused::Full);
            self.done.extend_from_slice(self.stream.packet());
            self.stream.next_packet(now);
            event(&mut self.stream).unwrap()
        })
    }

    fn define(&mut self, code: u64, locations: &[Location<'_>]) {
        self.put(START, |stream| stream.define(START, Code(code), locations));
    }

    fn alloc(&mut self, now: Timestamp, event: &AllocEvent, backtrace: &[Code]) -> BlockId {
        for &code in backtrace {
            if !self.stream.knows(code) {
                self.define(code.0, &[]);
            }
        }
        self.put(now, |stream| stream.alloc(now, event, backtrace, 0))
    }

    /// The file as it would be found if the process died now.
    fn image(&self) -> Vec<u8> {
        [&self.done, self.stream.packet()].concat()
    }
}

#[test]
fn info_packet_says_what_it_is_told() {
    for version in [Version::V2, Version::V3] {
        let mut buf = vec![0; MEMTRACE_PACKET];
        let len = info_packet(&mut buf, &info(), version).unwrap();
        assert_eq!(Reader::new(&buf[..len]).unwrap().info(), &info());
        assert_eq!(info_packet(&mut buf[..len - 1], &info(), version), Err(Refused::Full));
        assert_eq!(info_packet(&mut [], &info(), version), Err(Refused::Full));
    }
}

#[test]
fn long_strings_of_the_info_packet_are_cut() {
    let long = "x".repeat(100_000);
    let info = TraceInfo {
        executable: format!("{long}/a.out"),
        host: "ho\0st".into(),
        runtime_params: long.clone(),
        context: Some(long),
        ..info()
    };
    let mut buf = vec![0; MEMTRACE_PACKET];
    let len = info_packet(&mut buf, &info, Version::V2).unwrap();
    let reader = Reader::new(&buf[..len]).unwrap();
    assert_eq!(reader.info().host, "ho");
    assert!(reader.info().executable.starts_with("xxxx"));
    assert!(reader.info().context.as_ref().unwrap().starts_with("xxxx"));
}

#[test]
fn every_crash_image_is_whole() {
    let mut file = File::new();
    let mut written = 0;
    for step in 0..12_000_u64 {
        let backtrace: Vec<Code> =
            (0..step % 40).map(|depth| Code(1 + depth * 7 + step % 3)).collect();
        let id = file.alloc(at(step * 10), &small(step % 20), &backtrace);
        written += 1;
        if step % 3 == 0 {
            file.put(at(step * 10 + 3), |stream| stream.promote(at(step * 10 + 3), id));
            written += 1;
        }
        if step % 7 == 0 {
            file.put(at(step * 10), |stream| stream.collect(at(step * 10), id));
            written += 1;
        }
        if step % 499 == 0 {
            assert_eq!(facts(&file.image()).0.len(), written);
        }
        let header = Header::parse(file.stream.packet()).unwrap();
        assert_eq!(header.size, file.stream.packet_len());
        assert_eq!(header.end_id, file.stream.next_id().0);
    }
    assert_eq!(facts(&file.image()).0.len(), written);
    assert!(file.done.len() > MEMTRACE_PACKET, "several packets");
}

/// Codes of which none is followed twice by the same: predictions never help.
fn unpredictable(depth: u64) -> Vec<Code> {
    (0..depth).map(|i| Code(1 + (i * i * 31 + i) % 9973)).collect()
}

fn backtraces(trace: &[u8]) -> Vec<Vec<Code>> {
    let facts = facts(trace).0.into_iter();
    facts.filter_map(|fact| if let Fact::Alloc(.., b) = fact { Some(b) } else { None }).collect()
}

#[test]
fn backtraces_of_thousands_of_frames_are_written_whole() {
    let mut file = File::new();
    let deep = unpredictable(4_096);
    let warm: Vec<Code> = deep.chunks(1_000).flat_map(|part| part.iter().rev().copied()).collect();
    for part in warm.chunks(1_000) {
        file.alloc(START, &small(3), part);
    }
    assert!(file.stream.fits(&deep, 0));
    file.alloc(START, &small(3), &deep);
    assert_eq!(backtraces(&file.image()).last(), Some(&deep));
}

#[test]
fn deep_recursion_fits_though_it_was_never_met() {
    let mut file = File::new();
    let deep: Vec<Code> = (0..12_288).map(|i| Code(7 + 2 * (i % 5))).collect();
    assert!(file.stream.fits(&deep, 0));
    file.alloc(START, &small(3), &deep);
    assert_eq!(backtraces(&file.image()), [deep]);
}

#[test]
fn a_backtrace_that_does_not_fit_keeps_its_ends() {
    let mut file = File::new();
    let deep = unpredictable(10_000);
    assert!(!file.stream.fits(&deep, 0));
    let mut short = deep.clone();
    omitted::shorten(&mut short);
    assert!(file.stream.fits(&short, 0));
    file.alloc(START, &small(3), &short);
    // Whoever does not ask still keeps where the block was allocated.
    file.alloc(START, &small(3), &deep);
    file.alloc(START, &small(3), &deep);
    let written = backtraces(&file.image());
    assert_eq!(written[0], short);
    assert!(written[1].len() < deep.len());
    for backtrace in &written[1..] {
        assert_eq!(backtrace[..64], deep[..64]);
        assert!(backtrace.ends_with(&deep[deep.len() - 16..]));
    }
}

#[test]
fn a_whole_trace_leaves_out_the_middle_of_what_does_not_fit() {
    let mut writer = TraceWriter::new(Vec::new(), &info()).unwrap();
    let deep = unpredictable(10_000);
    for domain in [0, 1] {
        writer.alloc(DomainId(domain), START, &small(3), &deep, locate).unwrap();
    }
    let trace = writer.finish().unwrap();
    let mut short = deep;
    omitted::shorten(&mut short);
    assert_eq!(backtraces(&trace), [short.clone(), short]);
    let reader = Reader::new(&trace).unwrap();
    let mut names = Vec::new();
    reader.for_each(Detail::Codes, |event, tables| {
        if let Event::Alloc(alloc) = event {
            let gap = tables.locations.of(alloc.backtrace[omitted::OUTERMOST]);
            names.extend(gap.iter().map(|&s| tables.locations.resolve(s).function.to_vec()));
        }
    });
    assert_eq!(names, [b"[8,192 to 16,383 frames omitted]"; 2]);
}

#[test]
fn a_suffix_that_refers_to_lost_frames_is_cut_where_they_are_lost() {
    let mut file = File::new();
    let deep: Vec<Code> = (1..=10_000).map(Code).collect();
    file.alloc(START, &small(1), &deep);
    let known = file.stream.kept_at_most();
    assert!(known < 10_000);
    file.stream.alloc_with(START, &small(1), 10_000, [Code(5)].into_iter()).unwrap();
    file.stream.alloc_with(START, &small(1), 1, [Code(2), Code(3), Code(3)].into_iter()).unwrap();
    let backtraces = backtraces(&file.image());
    assert_eq!(backtraces[0].len(), known);
    assert_eq!(backtraces[1], backtraces[0]);
    assert_eq!(backtraces[2], [Code(1), Code(2), Code(3), Code(3)]);
}

#[test]
fn long_runs_of_one_frame_are_counted_in_full() {
    let mut file = File::new();
    for depth in [1, 2, 254, 255, 256, 257, 511, 512, 513, 9_982] {
        let mut backtrace = vec![Code(9); depth];
        backtrace.push(Code(10 + depth as u64));
        file.alloc(START, &small(2), &[]);
        file.alloc(START, &small(2), &backtrace);
        let (facts, _) = facts(&file.image());
        let Some(Fact::Alloc(.., read)) = facts.last() else { panic!() };
        assert_eq!(read, &backtrace);
    }
}

#[test]
fn more_names_than_a_table_holds() {
    let mut file = File::new();
    let name = |kind: &str, i: u64| format!("{kind}{i}").into_bytes();
    let mut expected = Vec::new();
    for code in 1..4_000_u64 {
        let (function, path) = (name("f", code * code % 97), name("dir/", code % 45 * (code % 7)));
        file.define(
            code,
            &[Location {
                function: &function,
                file: &path,
                line: code as u32,
                start_col: 1,
                end_col: 2,
            }],
        );
        expected.push((function, path));
    }
    let (_, decoded) = facts(&file.image());
    let locations = &decoded.tables.locations;
    for (code, (function, path)) in (1..).zip(&expected) {
        let [site] = locations.of(Code(code)) else { panic!("one site at {code}") };
        let read = locations.resolve(*site);
        assert_eq!((read.function, read.file, read.line), (&function[..], &path[..], code as u32));
    }
}

#[test]
fn locations_beyond_the_formats_limits() {
    let mut file = File::new();
    let one = Location { function: b"f", file: b"f.ml", line: 3, start_col: 2, end_col: 5 };
    let huge = vec![b'x'; 50_000];
    file.define(1, &[one; 256]);
    file.define(2, &[one; 255]);
    file.define(3, &[Location { function: &huge, file: &huge, ..one }]);
    file.define(4, &[Location { line: u32::MAX, start_col: 256, end_col: 1 << 20, ..one }]);
    file.define(5, &[]);
    file.define(6, &[Location { function: b"a\0b", file: b"\0", ..one }]);
    file.define(7, &[Location { function: &huge, ..one }; 5]);
    file.define(8 | 1 << 63, &[one]);
    let (_, decoded) = facts(&file.image());
    let at = |code| {
        let locations = &decoded.tables.locations;
        locations.of(Code(code)).iter().map(|&site| locations.resolve(site)).collect::<Vec<_>>()
    };
    let unknown =
        Location { function: b"??", file: b"<unknown>", line: 1, start_col: 1, end_col: 1 };
    assert_eq!(at(1), [unknown]);
    assert_eq!(at(2), [one; 255]);
    assert_eq!(at(3)[0].function, &huge[..1024]);
    assert_eq!(at(3)[0].file, &huge[..1024]);
    assert_eq!(at(4), [Location { line: 0xF_FFFF, start_col: 255, end_col: 1023, ..one }]);
    assert_eq!(at(5), []);
    assert_eq!(at(6), [Location { function: b"a", file: b"", ..one }]);
    assert_eq!(at(7), [unknown]);
    assert_eq!(at(8), [one]);
    assert!(file.stream.knows(Code(8)) && file.stream.knows(Code(8 | 1 << 63)));
}

#[test]
fn time_neither_goes_back_nor_leaves_its_packet() {
    let mut file = File::new();
    file.alloc(at(100), &small(1), &[Code(1)]);
    file.alloc(at(50), &small(1), &[Code(1)]);
    file.alloc(at(30_000_000), &small(1), &[Code(1)]);
    assert_eq!(file.stream.packet_len(), file.image().len() - file.done.len());
    assert_eq!(
        file.stream.alloc(at(30_000_101), &small(1), &[Code(1)], 0),
        Err(Refused::Full),
        "30 s after the first event"
    );
    file.alloc(at(90_000_000), &small(1), &[Code(1)]);
    file.alloc(at(u64::MAX >> 20), &small(1), &[Code(1)]);
    let (facts, _) = facts(&file.image());
    let times: Vec<u64> = facts
        .iter()
        .map(|fact| match fact {
            Fact::Alloc(time, ..) => time.0 - START.0,
            _ => 0,
        })
        .collect();
    assert_eq!(times, [100, 100, 30_000_000, 90_000_000, u64::MAX >> 20]);
}

#[test]
fn blocks_that_are_not_yet_born_can_only_be_collected_in_version_3() {
    let mut file = File::new();
    file.alloc(START, &small(1), &[]);
    assert_eq!(file.stream.collect(START, BlockId(1)), Err(Refused::Unborn));
    assert_eq!(file.stream.promote(START, BlockId(1)), Err(Refused::Unborn));
    assert_eq!(file.stream.set_version(Version::V3), Err(Refused::Full));
    file.done.extend_from_slice(file.stream.packet());
    file.stream.next_packet(START);
    file.stream.set_version(Version::V3).unwrap();
    file.stream.set_ids(BlockId(1), BlockId(2)).unwrap();
    file.stream.alloc(START, &small(1), &[], 0).unwrap();
    assert_eq!(file.stream.alloc(START, &small(1), &[], 0), Err(Refused::Full), "no id");
    assert_eq!(file.stream.promote(START, BlockId(10_000)), Err(Refused::Unborn));
    file.stream.collect(START, BlockId(10_000)).unwrap();
    let (facts, _) = facts(&file.image());
    assert_eq!(facts.last(), Some(&Fact::Collect(START, BlockId(10_000), DomainId(0))));
}

#[test]
fn a_buffer_that_is_too_small_is_refused() {
    let new = |len| {
        let buf = vec![0; len];
        StreamWriter::new(buf, Version::V2, 1, DomainId(0), START, BlockId(0)).err()
    };
    assert_eq!(new(4_096), Some(NewStreamError::Buffer(4_096)));
    assert_eq!(new(MEMTRACE_PACKET), None);
}

/// What happens in a program: domain, µs since the event before, what.
type Step = (u16, u64, Deed);

#[derive(Clone, Debug)]
enum Deed {
    /// Keeps that many frames of the domain's previous backtrace and adds those.
    Alloc {
        event: AllocEvent,
        keep: usize,
        add: Vec<u64>,
    },
    Promote(prop::sample::Index),
    Collect(prop::sample::Index),
}

fn deed() -> impl Strategy<Value = Deed> {
    let source = prop_oneof![Just(Source::Minor), Just(Source::Major), Just(Source::External)];
    let length = prop_oneof![0_u64..20, 0_u64..1 << 17, any::<u64>().prop_map(|n| n >> 2)];
    let samples = prop_oneof![Just(1_u64), 1_u64..100_000, any::<u64>().prop_map(|n| n >> 2)];
    let code = prop_oneof![8 => 1_u64..40, 2 => 1_u64..5_000, 1 => 1_u64..u64::MAX >> 1];
    let add = prop_oneof![
        9 => prop::collection::vec(code.clone(), 0..12),
        1 => prop::collection::vec(code, 0..400),
    ];
    let alloc = (length, samples, source, 0_usize..60, add).prop_map(
        |(length, samples, source, keep, add)| Deed::Alloc {
            event: AllocEvent { length: Words(length), samples, source },
            keep,
            add,
        },
    );
    prop_oneof![
        4 => alloc,
        1 => any::<prop::sample::Index>().prop_map(Deed::Promote),
        2 => any::<prop::sample::Index>().prop_map(Deed::Collect),
    ]
}

fn steps(domains: u16) -> impl Strategy<Value = Vec<Step>> {
    let pause = prop_oneof![9 => 0_u64..1_000, 1 => 0_u64..100_000_000];
    prop::collection::vec((0..domains, pause, deed()), 0..300)
}

/// Writes the steps, and says what must be read of each domain.
fn perform(steps: &[Step], domains: u16) -> (Vec<u8>, Vec<Fact>) {
    let mut writer = TraceWriter::new(Vec::new(), &info()).unwrap();
    let mut expected = Vec::new();
    let mut backtraces = vec![Vec::new(); domains.into()];
    let mut ids = Vec::new();
    let mut now = START.0;
    for (domain, pause, deed) in steps {
        now += pause;
        let (time, index, domain) = (Timestamp(now), usize::from(*domain), DomainId(*domain));
        match deed {
            Deed::Alloc { event, keep, add } => {
                let backtrace: &mut Vec<Code> = &mut backtraces[index];
                backtrace.truncate(*keep);
                backtrace.extend(add.iter().copied().map(Code));
                let id = writer.alloc(domain, time, event, backtrace, locate).unwrap();
                ids.push(id);
                expected.push(Fact::Alloc(time, id, domain, *event, backtrace.clone()));
            }
            Deed::Promote(which) if !ids.is_empty() => {
                let id = *which.get(&ids);
                if writer.promote(domain, time, id).is_ok() {
                    expected.push(Fact::Promote(time, id, domain));
                }
            }
            Deed::Collect(which) if !ids.is_empty() => {
                let id = *which.get(&ids);
                writer.collect(domain, time, id).unwrap();
                expected.push(Fact::Collect(time, id, domain));
            }
            _ => {}
        }
    }
    (writer.finish().unwrap(), expected)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_one_domain_writes_is_read(steps in steps(1)) {
        let (trace, expected) = perform(&steps, 1);
        prop_assert_eq!(facts(&trace).0, expected);
        prop_assert!(crate::header::Header::parse(&trace).unwrap().version == 2);
    }

    #[test]
    fn what_several_domains_write_is_read(steps in steps(3)) {
        let (trace, expected) = perform(&steps, 3);
        let (read, _) = facts(&trace);
        prop_assert_eq!(of_blocks(&read), of_blocks(&expected), "each block's events in order");
        for domain in (0..3).map(DomainId) {
            let of = |facts: &[Fact]| -> Vec<Fact> {
                facts.iter().filter(|fact| fact.domain() == domain).cloned().collect()
            };
            prop_assert_eq!(of(&read), of(&expected));
        }
    }
}
