//! Histories that were thinned while they grew, against the truth: at every moment of the past, estimates are unbiased
//! and claim the errors that they have.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use memtrail_profile::Profile;
use memtrail_profile::estimate::{Estimator, Sum};
use memtrail_profile::time::Elapsed;
use memtrail_test_support::is_whole_run;
use memtrail_trace::rates::RateChanges;
use memtrail_trace::thin::{Thinning, plan, write};
use memtrail_trace::write::AllocEvent;
use memtrail_trace::{BlockId, Bytes, Code, SampleRate, Source, Timestamp, Words};

use crate::begun::begin_history;
use crate::estimates::{Sampler, Score};

const RATE: f64 = 0.02;
const START: u64 = 1_700_000_000_000_000;
/// Words of blocks, headers included, and how many of a hundred have these.
const SIZES: [(u64, u64); 3] = [(3, 70), (10, 28), (200, 2)];
/// One is allocated each millisecond.
const BLOCKS: u64 = 25_000;
/// Bytes at which the trace is thinned, and to how many.
const LARGEST: usize = 30_000;
const LEFT: u64 = 18_000;
/// Bytes between two restarts.
const SEGMENT: usize = 2_000;

/// A block, whether it was sampled or not. Times in microseconds since the start.
struct Block {
    words: u64,
    allocated: u64,
    ended: u64,
}

struct History {
    all: Vec<Block>,
    trace: Vec<u8>,
    thinned: u32,
}

/// A program with blocks of three sizes, most of which die soon.
fn history(seed: u64) -> History {
    let mut sampler = Sampler::new(seed, RATE);
    let (mut trace, mut stream) = begin_history(RATE, START);
    let mut live: BinaryHeap<Reverse<(u64, BlockId)>> = BinaryHeap::new();
    let (mut all, mut thinned, mut written) = (Vec::new(), 0, 0);
    for block in 0..BLOCKS {
        let now = block * 1000;
        while live.peek().is_some_and(|Reverse((end, _))| *end <= now) {
            let Some(Reverse((end, id))) = live.pop() else { break };
            stream.collect(Timestamp(START + end), id).unwrap();
        }
        let mut kind = (sampler.random.uniform() * 100.0) as u64;
        let size = SIZES.iter().find(|(_, share)| {
            let is_it = kind < *share;
            kind = kind.saturating_sub(*share);
            is_it
        });
        let words = size.map_or(3, |(words, _)| *words);
        let mean = match sampler.random.uniform() {
            0.0..0.9 => 2e5,
            0.9..0.99 => 5e6,
            _ => 1e12,
        };
        let ended = now + 1 + (-sampler.random.uniform().ln() * mean) as u64;
        all.push(Block { words, allocated: now, ended });
        let samples = sampler.binomial(words);
        if samples > 0 {
            let event = AllocEvent { length: Words(words - 1), samples, source: Source::Minor };
            let (time, code) = (Timestamp(START + now), Code(words));
            if !stream.knows(code) {
                stream.define(time, code, &[]).unwrap();
            }
            let id = stream.alloc(time, &event, &[code], 0).unwrap();
            live.push(Reverse((ended, id)));
        }
        if block % 50 == 0 && !stream.is_empty() {
            trace.extend_from_slice(stream.packet());
            written += stream.packet_len();
            stream.next_packet(Timestamp(START + now));
            if written > SEGMENT {
                written = 0;
                stream.restart().unwrap();
            }
        }
        if trace.len() > LARGEST {
            thinned += 1;
            trace = thin(&trace, seed * 1000 + u64::from(thinned));
        }
    }
    trace.extend_from_slice(stream.packet());
    History { all, trace, thinned }
}

fn thin(trace: &[u8], seed: u64) -> Vec<u8> {
    let (rates, stretches) = (RateChanges::default(), BTreeMap::new());
    let bytes = Bytes(LEFT);
    let how = Thinning { rates: &rates, stretches: &stretches, moments: &[], bytes, seed };
    let mut planned = plan(trace, &how).unwrap();
    loop {
        let thinned = write(trace, &how, &planned, Vec::new()).unwrap();
        if thinned.len() as u64 <= LEFT {
            return thinned;
        }
        planned = planned.stricter(thinned.len() as u64).unwrap();
    }
}

/// Blocks that a question is about.
type Question = (&'static str, fn(u64, u64) -> bool);

const SECOND: u64 = 1_000_000;
const QUESTIONS: [Question; 5] = [
    ("all", |_, _| true),
    ("allocated in the first fifth", |allocated, _| allocated < 5 * SECOND),
    ("live at 5 s", |allocated, ended| allocated <= 5 * SECOND && ended > 5 * SECOND),
    ("live at 15 s", |allocated, ended| allocated <= 15 * SECOND && ended > 15 * SECOND),
    ("live at 24 s", |allocated, ended| allocated <= 24 * SECOND && ended > 24 * SECOND),
];

#[test]
fn thinned_histories_are_unbiased_and_claim_the_errors_that_they_have() {
    let runs = if is_whole_run() { 1_000 } else { 100 };
    let estimator = Estimator::new(SampleRate(RATE), 64);
    let mut scores: BTreeMap<(&str, u64), [Score; 2]> = BTreeMap::new();
    for seed in 1..=runs {
        let History { all, trace, thinned } = history(seed);
        assert!(thinned > 1, "it was thinned {thinned} times");
        let profile = Profile::read(&trace, &mut |_| ()).unwrap();
        assert!(profile.damage.is_empty() && profile.inconsistent.total() == 0);
        let blocks = &profile.blocks;
        for (question, is_meant) in QUESTIONS {
            for (words, _) in SIZES {
                let mut sum = Sum::default();
                for row in blocks.rows() {
                    let ended = blocks.collected(row).map_or(u64::MAX, |Elapsed(end)| end);
                    if blocks.length(row) == Words(words - 1)
                        && is_meant(blocks.allocated(row).0, ended)
                    {
                        estimator.add_row(&mut sum, blocks, row);
                    }
                }
                let truth = all
                    .iter()
                    .filter(|block| block.words == words && is_meant(block.allocated, block.ended));
                let count = truth.count() as f64;
                let [bytes, number] = scores.entry((question, words)).or_default();
                bytes.note(estimator.bytes(&sum), 8.0 * count * words as f64);
                number.note(estimator.blocks(&sum), count);
            }
        }
    }
    for ((question, words), [bytes, number]) in scores {
        // A few samples are left of small blocks that lived at one moment, or none: their number is skewed.
        let share = if question.starts_with("live") { 0.5 } else { 0.93 };
        bytes.check_with(&format!("bytes, {question}, {words} words"), share, 0.0);
        number.check_with(&format!("blocks, {question}, {words} words"), share, 0.0);
    }
}
