//! A recorder that restarts, and whose file is thinned again and again while it goes on.

use std::collections::{BTreeMap, HashMap};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;
use crate::rates::RateChanges;
use crate::write::{AllocEvent, Refused, StreamWriter, Version, info_packet};
use crate::{
    Alloc, BlockId, Bytes, Code, Detail, DomainId, Event, Location, Reader, SampleRate, Source,
    Timestamp, TraceInfo, Words,
};

const START: u64 = 1_700_000_000_000_000;
/// Between two restarts of a domain, in bytes of the file.
const SEGMENT: usize = 4_000;

/// A block as the recorder itself knows it.
#[derive(Clone, Debug, PartialEq)]
struct Truth {
    domain: u16,
    time: u64,
    samples: u64,
    backtrace: Vec<Code>,
    promoted: Option<u64>,
    ended: Option<u64>,
}

struct Recorder {
    random: StdRng,
    file: Vec<u8>,
    streams: Vec<StreamWriter<Vec<u8>>>,
    /// Length of the file at each domain's last restart.
    restarted: Vec<usize>,
    /// Bytes of the file that were there once: the file itself becomes smaller.
    written: usize,
    next_ids: u64,
    time: u64,
    live: Vec<BlockId>,
    truth: BTreeMap<BlockId, Truth>,
}

impl Recorder {
    fn new(domains: u16, seed: u64) -> Self {
        let info = TraceInfo {
            sample_rate: SampleRate(1e-3),
            word_bits: 64,
            executable: "thinned".into(),
            host: String::new(),
            runtime_params: String::new(),
            pid: 1,
            start: Timestamp(START),
            context: None,
        };
        let mut packet = vec![0; 1 << 15];
        let length = info_packet(&mut packet, &info, Version::V2).unwrap();
        packet.truncate(length);
        let version = if domains == 1 { Version::V2 } else { Version::V3 };
        let stream = |domain| {
            let buffer = vec![0; 1 << 15];
            StreamWriter::new(buffer, version, 1, DomainId(domain), info.start, BlockId(0)).unwrap()
        };
        Self {
            random: StdRng::seed_from_u64(seed),
            file: packet,
            streams: (0..domains).map(stream).collect(),
            restarted: vec![0; usize::from(domains)],
            written: 0,
            next_ids: 0,
            time: START,
            live: Vec::new(),
            truth: BTreeMap::new(),
        }
    }

    fn flush(&mut self, domain: usize) {
        let stream = &mut self.streams[domain];
        if !stream.is_empty() {
            self.file.extend_from_slice(stream.packet());
            self.written += stream.packet_len();
        }
        stream.next_packet(Timestamp(self.time));
        if self.written - self.restarted[domain] > SEGMENT {
            self.restarted[domain] = self.written;
            stream.restart().unwrap();
        }
    }

    fn put<T>(
        &mut self,
        domain: usize,
        write: impl Fn(&mut StreamWriter<Vec<u8>>) -> Result<T, Refused>,
    ) -> T {
        if let Ok(done) = write(&mut self.streams[domain]) {
            return done;
        }
        self.flush(domain);
        if self.streams[domain].ids_left() == 0 {
            let ids = (BlockId(self.next_ids), BlockId(self.next_ids + 10_000));
            self.next_ids += 10_000;
            self.streams[domain].set_ids(ids.0, ids.1).unwrap();
        }
        write(&mut self.streams[domain]).unwrap()
    }

    /// Does `events` things at random.
    fn run(&mut self, events: usize) {
        for _ in 0..events {
            self.time += self.random.random_range(0..20_000);
            let now = Timestamp(self.time);
            let domain = self.random.random_range(0..self.streams.len());
            match self.random.random_range(0..100) {
                0..2 => (0..self.streams.len()).for_each(|domain| self.flush(domain)),
                2..50 if !self.live.is_empty() => {
                    // The latest die first, mostly.
                    let back = self.random.random_range(0_f64..1.0).powi(4);
                    let index = ((1.0 - back) * self.live.len() as f64) as usize;
                    let id = self.live.swap_remove(index.min(self.live.len() - 1));
                    let owner = usize::from(self.truth[&id].domain);
                    self.put(owner, |stream| stream.collect(now, id));
                    self.truth.get_mut(&id).unwrap().ended = Some(self.time);
                }
                50..54 if !self.live.is_empty() => {
                    let id = self.live[self.random.random_range(0..self.live.len())];
                    let owner = usize::from(self.truth[&id].domain);
                    if self.truth[&id].promoted.is_none() {
                        self.put(owner, |stream| stream.promote(now, id));
                        self.truth.get_mut(&id).unwrap().promoted = Some(self.time);
                    }
                }
                _ => {
                    let depth = self.random.random_range(1..12);
                    let backtrace: Vec<Code> = (0..depth)
                        .map(|level| Code(1 + level * 40 + self.random.random_range(0..9)))
                        .collect();
                    let samples = 1 + u64::from(self.random.random_range(0..20) == 0);
                    for &code in &backtrace {
                        let function = format!("f{}", code.0).into_bytes();
                        let file = format!("{}.ml", code.0 % 37).into_bytes();
                        let at = Location {
                            function: &function,
                            file: &file,
                            line: 3,
                            start_col: 1,
                            end_col: 2,
                        };
                        if !self.streams[domain].knows(code) {
                            self.put(domain, |stream| stream.define(now, code, &[at]));
                        }
                    }
                    let event = AllocEvent { length: Words(2), samples, source: Source::Minor };
                    let id = self.put(domain, |stream| stream.alloc(now, &event, &backtrace, 0));
                    let truth = Truth {
                        domain: domain as u16,
                        time: self.time,
                        samples,
                        backtrace,
                        promoted: None,
                        ended: None,
                    };
                    self.live.push(id);
                    self.truth.insert(id, truth);
                }
            }
        }
    }

    fn thin(&mut self, bytes: u64, moments: &[Timestamp], seed: u64) -> Result<(), Unthinned> {
        (0..self.streams.len()).for_each(|domain| self.flush(domain));
        let stretches = BTreeMap::new();
        let thinning = Thinning {
            rates: &RateChanges::default(),
            stretches: &stretches,
            moments,
            bytes: Bytes(bytes),
            seed,
        };
        let mut plan = plan(&self.file, &thinning)?;
        loop {
            let file = write(&self.file, &thinning, &plan, Vec::new()).unwrap();
            if file.len() as u64 <= bytes {
                self.file = file;
                return Ok(());
            }
            plan = plan.stricter(file.len() as u64)?;
        }
    }
}

/// Blocks as a reader has them, with how often the rate was halved for each.
fn read(file: &[u8]) -> HashMap<BlockId, (Truth, u8)> {
    let reader = Reader::new(file).unwrap();
    let mut blocks: HashMap<BlockId, (Truth, u8)> = HashMap::new();
    let decoded = reader.for_each(Detail::Codes, |event, tables| match event {
        Event::Alloc(Alloc { id, domain, time, samples, backtrace, halvings, suspect, .. }) => {
            assert!(!suspect);
            for code in backtrace {
                let at = tables.locations.of(*code);
                let name = format!("f{}", code.0);
                assert_eq!(tables.locations.resolve(at[0]).function, name.as_bytes());
            }
            let truth = Truth {
                domain: domain.0,
                time: time.0,
                samples,
                backtrace: backtrace.to_vec(),
                promoted: None,
                ended: None,
            };
            assert!(blocks.insert(id, (truth, halvings.unwrap_or(0))).is_none(), "{id:?} twice");
        }
        Event::Promote(mark) => {
            let promoted = &mut blocks.get_mut(&mark.id).expect("a block").0.promoted;
            assert_eq!(promoted.replace(mark.time.0), None);
        }
        Event::Collect(mark) => {
            let ended = &mut blocks.get_mut(&mark.id).expect("a block").0.ended;
            assert_eq!(ended.replace(mark.time.0), None);
        }
    });
    assert!(decoded.anomalies.is_empty(), "{:?}", decoded.anomalies.list());
    blocks
}

/// Thins a trace that grows, and compares each state with what the recorder knows.
fn compare(domains: u16, seed: u64) {
    let bytes = 40_000 + 30_000 * u64::from(domains);
    let mut recorder = Recorder::new(domains, seed);
    let mut moments = Vec::new();
    let mut thinned = 0;
    for round in 0..12 {
        recorder.run(4_000);
        if round % 4 == 1 {
            moments.push(Timestamp(recorder.time));
        }
        match recorder.thin(bytes, &moments, seed * 100 + round) {
            Ok(()) => thinned += 1,
            Err(Unthinned::NoRoom(_)) if (recorder.file.len() as u64) < bytes => {}
            Err(error) => panic!("{error}: {} bytes", recorder.file.len()),
        }
        let blocks = read(&recorder.file);
        for id in &recorder.live {
            let (found, halvings) = &blocks[id];
            assert_eq!((found, *halvings), (&recorder.truth[id], 0), "{id:?} is alive");
        }
        for (id, (found, halvings)) in &blocks {
            // No snapshot finds another block under a name that it has.
            let truth = &recorder.truth[id];
            let is_named = |moment: &Timestamp| {
                truth.time < moment.0 && truth.ended.is_none_or(|ended| ended > moment.0)
            };
            if moments.iter().any(is_named) {
                assert_eq!((found, *halvings), (truth, 0), "{id:?} is in a snapshot");
            }
            assert_eq!(found.samples % (1 << halvings), 0);
        }
    }
    assert!(thinned > 5, "{thinned}");
    let taken = read(&recorder.file).len();
    assert!(taken * 3 < recorder.truth.len(), "{taken} of {}", recorder.truth.len());
}

#[test]
fn one_domain_is_thinned_while_it_goes_on() {
    (0..2).for_each(|seed| compare(1, seed));
}

#[test]
fn several_domains_are_thinned_while_they_go_on() {
    (0..2).for_each(|seed| compare(3, seed));
}

#[test]
fn samples_stand_for_as_many_as_were_taken() {
    let (mut stands, mut truth) = (0.0, 0.0);
    for seed in 0..8 {
        let mut recorder = Recorder::new(1, seed);
        for round in 0..6 {
            recorder.run(4_000);
            let _ = recorder.thin(50_000, &[], seed * 100 + round);
        }
        let blocks = read(&recorder.file);
        stands += blocks.values().map(|(block, _)| block.samples as f64).sum::<f64>();
        truth += recorder.truth.values().map(|block| block.samples as f64).sum::<f64>();
    }
    // 90,000 samples, of which one in ten at least was taken: five standard errors are below 0.05.
    assert!((stands / truth - 1.0).abs() < 0.05, "{stands} of {truth}");
}

#[test]
fn a_trace_that_never_restarted_has_no_history() {
    let trace = include_bytes!("../../tests/fixtures/cache-v2.ctf");
    let (rates, stretches) = (RateChanges::default(), BTreeMap::new());
    let thinning = Thinning {
        rates: &rates,
        stretches: &stretches,
        moments: &[],
        bytes: Bytes(10_000),
        seed: 0,
    };
    assert!(matches!(plan(trace, &thinning), Err(Unthinned::NoRoom(_))));
    let roomy = Thinning { bytes: Bytes(1 << 20), ..thinning };
    let plan = plan(trace, &roomy).unwrap();
    assert!(write(trace, &roomy, &plan, Vec::new()).unwrap() == trace);
}
