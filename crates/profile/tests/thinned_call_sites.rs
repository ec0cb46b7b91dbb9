//! Call sites of programs whose histories were thinned again and again, against the truth: what each allocated, and what of
//! it was alive at moments of the past. The truth is within three standard errors as often as they promise, and they are
//! not too small.
//!
//! Sites differ in rate, size and lifetime. The recorder changes its sampling rate on the way. Some histories have heap
//! snapshots, which keep the blocks that they name. Some have lists of threads, which keep blocks within their stretches.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use memtrail_profile::Profile;
use memtrail_profile::estimate::{Estimate, Sum};
use memtrail_profile::time::Elapsed;
use memtrail_test_support::is_whole_run;
use memtrail_trace::rates::RateChanges;
use memtrail_trace::thin::{Thinning, Unthinned, plan, write};
use memtrail_trace::write::{AllocEvent, StreamWriter};
use memtrail_trace::{BlockId, Bytes, Code, Location, Source, Timestamp, Words};

use crate::begun::begin_history;
use crate::estimates::{Random, Sampler};

const RATE: f64 = 0.1;
const START: u64 = 1_700_000_000_000_000;
const SECOND: u64 = 1_000_000;
/// Microseconds between two looks at who allocates.
const TICK: u64 = 1_000;
const LENGTH: u64 = 40 * SECOND;
/// Bytes at which the launcher thins the trace: to half of them.
const LARGEST: usize = 600_000;
/// Bytes between two restarts.
const SEGMENT: usize = 6_000;
/// Moments of the past at which live memory is looked at.
const MOMENTS: [u64; 5] = [6 * SECOND, 13 * SECOND, 20 * SECOND, 31 * SECOND, 39 * SECOND];
/// Heap snapshots of every fourth history.
const SNAPSHOTS: [u64; 2] = [11 * SECOND, 26 * SECOND];

/// A call site.
struct Site {
    function: &'static str,
    /// Blocks a tick.
    pace: f64,
    /// Words of a block, its header included.
    words: u64,
    /// Mean lifetime.
    lifetime: f64,
    /// It allocates from one moment to another.
    active: (u64, u64),
}

const NEVER: f64 = 1e15;
const SITES: [Site; 6] = [
    Site { function: "parse", pace: 3.0, words: 30, lifetime: 3e4, active: (0, LENGTH) },
    Site { function: "request", pace: 0.8, words: 100, lifetime: 1e5, active: (0, LENGTH) },
    Site { function: "session", pace: 0.1, words: 400, lifetime: 2e6, active: (0, LENGTH) },
    // A leak.
    Site { function: "leak", pace: 0.0015, words: 250, lifetime: NEVER, active: (0, LENGTH) },
    // It worked at first only, and most of it was kept for longer.
    Site { function: "load", pace: 0.05, words: 600, lifetime: 5e6, active: (0, LENGTH / 4) },
    // A burst of blocks that are as large as another site's.
    Site {
        function: "burst",
        pace: 0.3,
        words: 100,
        lifetime: 4e5,
        active: (9 * SECOND, 15 * SECOND),
    },
];

/// Words of one site.
#[derive(Clone, Copy, Debug, Default)]
struct Truth {
    allocated: u64,
    live: [u64; MOMENTS.len()],
}

struct History {
    trace: Vec<u8>,
    rates: RateChanges,
    /// First blocks of stretches, and when they began.
    stretches: Vec<(u64, u64)>,
    /// Blocks that were sampled.
    blocks: u64,
    truth: [Truth; SITES.len()],
    thinned: u32,
}

/// The recorder of one program.
struct Recorder {
    trace: Vec<u8>,
    stream: StreamWriter<Vec<u8>>,
    live: BinaryHeap<Reverse<(u64, BlockId)>>,
    rates: RateChanges,
    stretches: Vec<(u64, u64)>,
    moments: Vec<Timestamp>,
    /// Bytes since the last restart.
    segment: usize,
    /// Bytes at which the trace is thinned.
    largest: usize,
    thinned: u32,
}

impl Recorder {
    fn new() -> Self {
        let (trace, stream) = begin_history(RATE, START);
        Self {
            trace,
            stream,
            live: BinaryHeap::new(),
            rates: RateChanges::default(),
            stretches: Vec::new(),
            moments: Vec::new(),
            segment: 0,
            largest: LARGEST,
            thinned: 0,
        }
    }

    /// From here on blocks are sampled at the trace's rate halved so often.
    fn change_rate(&mut self, halvings: u8) {
        let changes = self.rates.of_domain.entry(0).or_default();
        changes.push((self.stream.next_id().0, halvings));
    }

    fn collect_until(&mut self, now: u64) {
        while self.live.peek().is_some_and(|Reverse((end, _))| *end <= now) {
            let Some(Reverse((end, id))) = self.live.pop() else { break };
            self.stream.collect(Timestamp(START + end), id).unwrap();
        }
    }

    fn alloc(&mut self, site: usize, now: u64, ended: u64, samples: u64) {
        let time = Timestamp(START + now);
        let code = Code(1 + site as u64);
        let Site { function, words, .. } = SITES[site];
        if !self.stream.knows(code) {
            let function = function.as_bytes();
            let at = Location { function, file: b"it.ml", line: 1, start_col: 0, end_col: 1 };
            self.stream.define(time, code, &[at]).unwrap();
        }
        let event = AllocEvent { length: Words(words - 1), samples, source: Source::Minor };
        let id = self.stream.alloc(time, &event, &[code], 0).unwrap();
        self.live.push(Reverse((ended, id)));
    }

    /// Brings the packet to the trace.
    fn flush(&mut self, now: u64) {
        if !self.stream.is_empty() {
            self.trace.extend_from_slice(self.stream.packet());
            self.segment += self.stream.packet_len();
        }
        self.stream.next_packet(Timestamp(START + now));
        if self.segment > SEGMENT {
            self.segment = 0;
            self.stream.restart().unwrap();
        }
    }

    /// Thins the trace as the launcher does, if it is too large.
    fn thin(&mut self, seed: u64) {
        if self.trace.len() <= self.largest {
            return;
        }
        // As the launcher waits if too much of the trace has to stay.
        self.largest = LARGEST.max(self.trace.len() / 4 * 5);
        let bytes = self.trace.len() as u64 / 2;
        let first = self.stretches.iter().map(|(first, _)| *first).collect();
        let how = Thinning {
            rates: &self.rates,
            stretches: &BTreeMap::from([(0, first)]),
            moments: &self.moments,
            bytes: Bytes(bytes),
            seed: seed * 1000 + u64::from(self.thinned),
        };
        let mut planned = plan(&self.trace, &how);
        while let Ok(plan) = planned {
            let thinned = write(&self.trace, &how, &plan, Vec::new()).unwrap();
            if thinned.len() as u64 <= bytes {
                (self.trace, self.largest) = (thinned, LARGEST);
                self.thinned += 1;
                return;
            }
            planned = plan.stricter(thinned.len() as u64);
        }
        assert!(matches!(planned, Err(Unthinned::NoRoom(_))), "{planned:?}");
    }
}

/// A program of which each site has a pace and lifetimes of its own.
fn history(seed: u64) -> History {
    let mut random = Random::new(seed);
    let mut samplers: Vec<_> = (0..3_u32)
        .map(|halvings| {
            Sampler::new(seed << 8 | u64::from(halvings), RATE / f64::from(1 << halvings))
        })
        .collect();
    let of_site: Vec<(f64, f64)> = SITES
        .iter()
        .map(|site| {
            (
                site.pace * between(&mut random, 0.7, 1.4),
                site.lifetime * between(&mut random, 0.7, 1.4),
            )
        })
        .collect();
    let mut recorder = Recorder::new();
    let (mut truth, mut due) = ([Truth::default(); SITES.len()], [0.0; SITES.len()]);
    let mut halvings = 0_usize;
    for now in (0..LENGTH).step_by(TICK as usize) {
        // It does not depend on chance at which rate a block is sampled.
        let wanted = [0, 1, 0, 2, 1][(now / (8 * SECOND)) as usize];
        if std::mem::replace(&mut halvings, wanted) != wanted {
            recorder.change_rate(wanted as u8);
        }
        if seed % 2 == 1 && now % (5 * SECOND) == 0 {
            recorder.stretches.push((recorder.stream.next_id().0, now));
        }
        recorder.collect_until(now);
        for (site, (pace, lifetime)) in of_site.iter().enumerate() {
            let Site { words, active: (from, to), .. } = SITES[site];
            if !(from..to).contains(&now) {
                continue;
            }
            due[site] += pace;
            while due[site] >= 1.0 {
                due[site] -= 1.0;
                let ended = now + 1 + (-random.uniform().ln() * lifetime) as u64;
                truth[site].allocated += words;
                for (live, moment) in truth[site].live.iter_mut().zip(MOMENTS) {
                    *live += if now <= moment && ended > moment { words } else { 0 };
                }
                let samples = samplers[halvings].binomial(words) << halvings;
                if samples > 0 {
                    recorder.alloc(site, now, ended, samples);
                }
            }
        }
        if seed % 4 == 1 && SNAPSHOTS.contains(&now) {
            recorder.moments.push(Timestamp(START + now));
        }
        if now % (40 * TICK) == 0 {
            recorder.flush(now);
            recorder.thin(seed);
        }
    }
    recorder.collect_until(LENGTH);
    recorder.flush(LENGTH);
    let blocks = recorder.stream.next_id().0;
    let Recorder { trace, rates, stretches, thinned, .. } = recorder;
    History { trace, rates, stretches, blocks, truth, thinned }
}

fn between(random: &mut Random, least: f64, most: f64) -> f64 {
    least * (most / least).powf(random.uniform())
}

/// Estimates of one quantity in all histories, against the truth.
#[derive(Clone, Debug, Default)]
struct Agreement {
    runs: f64,
    within_three: f64,
    /// Sums of errors, of their squares, and of their squares in standard errors.
    errors: f64,
    squares: f64,
    standardised: f64,
    values: f64,
    variances: f64,
}

impl Agreement {
    fn note(&mut self, estimate: Estimate, truth: f64) {
        let error = estimate.value - truth;
        let z = error / estimate.stderr.max(f64::MIN_POSITIVE);
        self.runs += 1.0;
        self.within_three += f64::from(u8::from(z.abs() <= 3.0));
        self.errors += error;
        self.squares += error * error;
        self.standardised += z * z;
        self.values += estimate.value;
        self.variances += estimate.stderr * estimate.stderr;
    }

    /// Samples of weight 1 that would have the same relative error.
    fn effective(&self) -> f64 {
        self.values * self.values / self.runs / self.variances
    }

    /// Mean error in its own standard errors.
    fn bias(&self) -> f64 {
        self.errors / self.squares.sqrt()
    }
}

/// Adds what a trace says of each site, in all and alive at each moment.
fn estimate(history: &History, sums: &mut [[Sum; 1 + MOMENTS.len()]; SITES.len()]) -> Profile {
    let rates = Some(history.rates.clone());
    let profile = Profile::read_with(&history.trace, None, rates, &mut |_| ()).unwrap();
    assert!(profile.damage.is_empty() && profile.inconsistent.total() == 0);
    let blocks = &profile.blocks;
    for row in blocks.rows() {
        let frame = profile.stacks.frame(blocks.stack(row));
        let at = profile.locations.resolve(profile.locations.at(frame)[0]);
        let is_it = |site: &Site| site.function.as_bytes() == at.function;
        let sums = &mut sums[SITES.iter().position(is_it).unwrap()];
        profile.estimator.add_row(&mut sums[0], blocks, row);
        for (sum, moment) in sums[1..].iter_mut().zip(MOMENTS) {
            let is_live = blocks.collected(row).is_none_or(|Elapsed(end)| end > moment);
            if blocks.allocated(row).0 <= moment && is_live {
                profile.estimator.add_row(sum, blocks, row);
            }
        }
    }
    profile
}

/// Each block is in the stretch in which it was allocated, whatever its number is now.
fn check_stretches(history: &History, profile: &Profile) {
    let ends = history.stretches.iter().skip(1).copied().chain([(history.blocks, LENGTH)]);
    for (&(first, began), (end, ended)) in history.stretches.iter().zip(ends) {
        for row in (first..end).filter_map(|id| profile.find(BlockId(id))) {
            let Elapsed(allocated) = profile.blocks.allocated(row);
            assert!((began..ended).contains(&allocated), "{allocated} from {began} to {ended}");
        }
    }
}

/// A site's samples, if there are so many, are so near to a normal distribution that 0.27 to 0.32 % of it are farther away
/// than three standard errors.
const MANY: f64 = 300.0;
/// Standard errors of the bounds: 7 in a million.
const BOUND: f64 = 4.5;

#[test]
fn call_sites_of_thinned_histories_are_within_their_errors() {
    let runs = if is_whole_run() { 1_000 } else { 40 };
    let mut all = vec![[(); 1 + MOMENTS.len()].map(|()| Agreement::default()); SITES.len()];
    for seed in 1..=runs {
        let history = history(seed);
        assert!(history.thinned > 1, "it was thinned {} times", history.thinned);
        let mut sums = [[Sum::default(); 1 + MOMENTS.len()]; SITES.len()];
        let profile = estimate(&history, &mut sums);
        check_stretches(&history, &profile);
        for ((site, sums), truth) in all.iter_mut().zip(sums).zip(history.truth) {
            let words = [truth.allocated].into_iter().chain(truth.live);
            for ((agreement, sum), words) in site.iter_mut().zip(sums).zip(words) {
                agreement.note(profile.estimator.bytes(&sum), 8.0 * words as f64);
            }
        }
    }
    let runs = runs as f64;
    let (mut judged, mut within, mut standardised) = (0.0, 0.0, 0.0);
    for (site, agreements) in SITES.iter().zip(&all) {
        for (index, agreement) in agreements.iter().enumerate() {
            let name = match index {
                0 => format!("{}, allocated", site.function),
                at => format!("{}, live at {} s", site.function, MOMENTS[at - 1] / SECOND),
            };
            if agreement.values == 0.0 {
                continue;
            }
            let (bias, effective) = (agreement.bias(), agreement.effective());
            assert!(bias.abs() < BOUND, "{name}: mean error {bias}");
            if effective < MANY {
                continue;
            }
            judged += 1.0;
            within += agreement.within_three / runs;
            standardised += agreement.standardised / runs;
            // The square of a standard normal variable has variance 2.
            let mean = agreement.standardised / runs;
            let spread = BOUND * (2.0 / runs).sqrt();
            assert!((mean - 1.0).abs() < spread, "{name}: mean of squares {mean}");
        }
    }
    assert!(judged >= 8.0, "{judged} have samples enough");
    // All quantities of one site may err together; sites are sampled independently.
    let independent = runs * SITES.len() as f64;
    let (share, mean) = (within / judged, standardised / judged);
    let least = 0.997 - BOUND * (0.003 * 0.997 / independent).sqrt();
    assert!(share >= least, "{share} within three standard errors, not {least}");
    let spread = BOUND * (2.0 / independent).sqrt();
    assert!((mean - 1.0).abs() < spread, "mean of squares {mean} ± {spread}");
}
