//! Fewer samples are written as a trace comes near its limit, or the memory for packets near its own that wait for room
//! on a full disk.
//!
//! The launcher thins a trace long before it is full (`--disk`). One that grows faster than the launcher thins it, or whose
//! launcher was killed, would reach its limit and end. So from two thirds of the limit on, each sample is kept with
//! probability 2^-k and counts 2^k times as much. The block is as if it had been sampled at the rate halved k times more.
//! k rises with the bytes of the trace or the memory, and falls when these are fewer again. They depend on the past alone, so
//! estimates stay unbiased. Each step of k lasts twice as long as the one before it, so no program fills the last part.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use memtrail_recording::rates::MAX_HALVINGS;
use memtrail_recording::waiting;

use crate::context::halvings::Halvings;
use crate::random::binomial;
use crate::random::splitmix::SplitMix;
use crate::recording::output::Output;

/// Keeps the numbers apart from those that others get from the same seed.
const STREAM: u64 = 0x726f_6f6d_206c_6566;
/// The note of a trace that came so near its limit.
const NOTE: &str = "the trace came near the limit of --disk: from then on or for a time, fewer samples were \
     written, and each counts for more";

/// The note of one for which it had none for long.
const NOTE_OF_FULL_MEMORY: &str =
    "the disk was full for so long that fewer samples were kept, and each counts for more";

/// Samples of a block that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) samples: u64,
    /// The rate to which they amount; they count as it says.
    pub(crate) halvings: Halvings,
}

/// Room that is left for a trace.
pub(crate) struct Room {
    /// Bytes that the trace may have.
    limit: u64,
    /// k, as far as it comes from the trace.
    of_trace: AtomicU8,
    /// As far as it comes from the memory for packets that wait.
    of_memory: AtomicU8,
    /// Packets have waited.
    has_waited: AtomicBool,
    /// Notes that were made already.
    noted: [AtomicBool; 3],
    numbers: AtomicU64,
}

impl Room {
    pub(crate) fn new(limit: u64, seed: u64) -> Self {
        Self {
            limit,
            of_trace: AtomicU8::new(0),
            of_memory: AtomicU8::new(0),
            has_waited: AtomicBool::new(false),
            noted: Default::default(),
            numbers: AtomicU64::new(seed ^ STREAM),
        }
    }

    /// The trace is as it is now.
    pub(crate) fn has(&self, output: &Output) {
        self.fill(output.total(), output.waiting() as u64);
    }

    fn fill(&self, trace: u64, waiting: u64) {
        self.of_trace.store(wanted(trace, self.limit), Relaxed);
        self.of_memory.store(wanted(waiting, waiting::TRACE as u64), Relaxed);
        if waiting > 0 {
            self.has_waited.store(true, Relaxed);
        }
    }

    fn halvings(&self) -> u8 {
        self.of_trace.load(Relaxed).max(self.of_memory.load(Relaxed))
    }

    /// True if samples are declined: the launcher has not thinned the trace in time, or was killed.
    pub(crate) fn is_short(&self) -> bool {
        self.of_trace.load(Relaxed) > 0
    }

    /// Gives the notes that were not made yet.
    pub(crate) fn news(&self) -> Vec<String> {
        let facts = [
            (self.is_short(), NOTE),
            (self.has_waited.load(Relaxed), waiting::NOTE),
            (self.of_memory.load(Relaxed) > 0, NOTE_OF_FULL_MEMORY),
        ];
        let is_new =
            |((is_so, _), noted): &((bool, _), &AtomicBool)| *is_so && !noted.swap(true, Relaxed);
        facts
            .into_iter()
            .zip(&self.noted)
            .filter(is_new)
            .map(|((_, note), _)| note.to_owned())
            .collect()
    }

    /// Keeps all or some of a block's samples, which were drawn at a rate.
    #[inline]
    pub(crate) fn keep(&self, samples: u64, drawn: Halvings) -> Kept {
        match self.halvings() {
            0 => Kept { samples, halvings: drawn },
            more => self.decline(samples, drawn, more),
        }
    }

    #[cold]
    fn decline(&self, samples: u64, drawn: Halvings, more: u8) -> Kept {
        let more = Halvings(more.min(MAX_HALVINGS.saturating_sub(drawn.0)));
        let mut next = || SplitMix(self.numbers.fetch_add(SplitMix::STEP, Relaxed)).next();
        let kept = binomial::draw(samples, 1.0 / more.weight() as f64, &mut next);
        Kept { samples: kept, halvings: Halvings(drawn.0 + more.0) }
    }
}

/// k for a trace, or a memory, of so many bytes.
fn wanted(length: u64, limit: u64) -> u8 {
    let free = limit / 3 * 2;
    let step = (limit - free) / (u64::from(MAX_HALVINGS) + 1);
    let steps = length.saturating_sub(free).checked_div(step).unwrap_or(0);
    steps.min(u64::from(MAX_HALVINGS)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 12 << 20;
    const ALL: Kept = Kept { samples: 3, halvings: Halvings(2) };

    #[test]
    fn a_trace_without_limit_keeps_all() {
        let room = Room::new(u64::MAX, 1);
        room.fill(1 << 50, 0);
        assert_eq!(room.keep(3, Halvings(2)), ALL);
        assert!(room.news().is_empty());
    }

    #[test]
    fn samples_are_the_fewer_the_less_room_is_left() {
        let room = Room::new(LIMIT, 1);
        let halvings = [0, LIMIT / 2, LIMIT / 3 * 2, LIMIT / 4 * 3, LIMIT - 1, LIMIT + 1]
            .map(|n| wanted(n, LIMIT));
        assert_eq!(halvings, [0, 0, 0, 6, MAX_HALVINGS, MAX_HALVINGS]);
        room.fill(LIMIT - 1, 0);
        assert_eq!((room.news(), room.news()), (vec![NOTE.to_owned()], vec![]), "once");
        room.fill(0, 0);
        assert_eq!(room.keep(3, Halvings(2)), ALL, "after it was thinned");
        assert_eq!(wanted(5, 5), 0, "a limit without steps");
    }

    #[test]
    fn samples_are_the_fewer_the_more_packets_wait() {
        let room = Room::new(u64::MAX, 1);
        room.fill(1 << 30, 1);
        assert_eq!((room.keep(3, Halvings(2)), room.is_short()), (ALL, false));
        assert_eq!(room.news(), [waiting::NOTE]);
        room.fill(1 << 30, waiting::TRACE as u64);
        assert_eq!(room.keep(3, Halvings(2)).halvings, Halvings(MAX_HALVINGS));
        assert_eq!(room.news(), [NOTE_OF_FULL_MEMORY]);
        room.fill(1 << 30, 0);
        assert_eq!((room.keep(3, Halvings(2)), room.news()), (ALL, vec![]), "there is room again");
    }

    /// Bytes that a program of constant pace writes until its trace is full, in limits of the trace.
    #[test]
    fn a_thousand_times_the_limit_fits() {
        let (mut length, mut written) = (0_u64, 0_u64);
        while length < LIMIT {
            let part = 4 << 10;
            length += part;
            written += part << wanted(length, LIMIT);
        }
        assert!(written > 1_000 * LIMIT, "{}", written / LIMIT);
    }

    #[test]
    fn what_is_kept_counts_for_as_much() {
        const ROUNDS: u64 = 20_000;
        for (samples, drawn, length) in
            [(1, 0, LIMIT / 4 * 3), (1, 11, LIMIT), (40, 3, LIMIT / 10 * 9)]
        {
            let room = Room::new(LIMIT, 3);
            room.fill(length, 0);
            let all: Vec<_> = (0..ROUNDS).map(|_| room.keep(samples, Halvings(drawn))).collect();
            let halvings = all[0].halvings;
            assert!(halvings.0 > drawn && halvings.0 <= MAX_HALVINGS);
            let kept: u64 = all.iter().map(|kept| kept.samples).sum();
            let p = 2_f64.powi(i32::from(drawn) - i32::from(halvings.0));
            let trials = (ROUNDS * samples) as f64;
            let error = (trials * p * (1.0 - p)).sqrt();
            assert!(
                (kept as f64 - trials * p).abs() < 4.5 * error,
                "{samples}, {halvings:?}: {kept}"
            );
        }
    }
}
