//! Threads that are started and do not end, by their numbers.
//!
//! The runtime numbers threads in the order in which they are started. So where hardly any has ended, the number of a thread
//! that a sampled block is of tells how many had been started when that was allocated, at least. That is exact, and few
//! samples suffice: threads that were all started at the beginning have numbers in no order, or early ones.

use std::collections::{BTreeMap, BTreeSet};

use super::growth::{self, GrowthRate, Judgement};
use super::owned::Owner;
use super::thread_number::{ThreadNumber, number};

/// Fewer threads are no suspect.
const MIN_THREADS: usize = 20;
/// Of all threads that were started, so many have to wait there.
const MIN_SHARE_WAITING: f64 = 0.8;
/// With fewer threads of which something was sampled nothing is sure.
const MIN_SAMPLED: usize = 7;

/// The highest number of a thread of these.
pub(super) fn last(owners: &[Owner<'_>]) -> Option<ThreadNumber> {
    owners.iter().flat_map(|owner| &owner.rows).filter_map(|row| number(row)).max()
}

/// Judges an owner by the threads that it is on the stacks of; `last` is the highest number, and `end` when the snapshot was
/// taken.
pub(super) fn by_numbers(owner: &Owner<'_>, last: ThreadNumber, end: f64) -> Option<GrowthRate> {
    let waiting: BTreeSet<ThreadNumber> = owner.rows.iter().filter_map(|row| number(row)).collect();
    Waiting { threads: waiting.len(), bytes: owner.bytes(), last, end }.judge(&owner.threads)
}

/// Threads that wait in one function.
struct Waiting {
    threads: usize,
    /// What they own.
    bytes: u64,
    last: ThreadNumber,
    end: f64,
}

impl Waiting {
    fn judge(&self, sampled: &[(ThreadNumber, f64)]) -> Option<GrowthRate> {
        let last = self.last.0 as f64;
        if self.threads < MIN_THREADS || (self.threads as f64) < last * MIN_SHARE_WAITING {
            return None;
        }
        let mut first: BTreeMap<ThreadNumber, f64> = BTreeMap::new();
        for (thread, at) in sampled {
            let known = first.entry(*thread).or_insert(*at);
            *known = known.min(*at);
        }
        if first.len() < MIN_SAMPLED {
            return None;
        }
        let mut points: Vec<(f64, u64)> =
            first.into_iter().map(|(thread, at)| (at, self.bytes_of(thread))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.push((self.end, self.bytes_of(self.last)));
        let (times, sizes): (Vec<f64>, Vec<u64>) = points.into_iter().unzip();
        match growth::by_snapshots(&times, &sizes) {
            Judgement::Grows(growth) => Some(GrowthRate { from: "threads", ..growth }),
            _ => None,
        }
    }

    /// What threads own up to this one.
    fn bytes_of(&self, thread: ThreadNumber) -> u64 {
        (thread.0 as f64 * self.bytes as f64 / self.threads.max(1) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(threads: usize, last: u64, sampled: &[(u64, f64)]) -> Option<GrowthRate> {
        let sampled: Vec<(ThreadNumber, f64)> =
            sampled.iter().map(|(number, at)| (ThreadNumber(*number), *at)).collect();
        Waiting { threads, bytes: 8_000_000, last: ThreadNumber(last), end: 10.0 }.judge(&sampled)
    }

    /// Of 400 threads that waited, twenty had a sampled block: "too few to judge".
    #[test]
    fn few_samples_are_enough_for_threads_that_do_not_end() {
        let sampled: Vec<(u64, f64)> =
            (1..=20).map(|place| (place * 19, place as f64 / 2.05)).collect();
        let growth = judge(400, 400, &sampled).expect("it grows");
        assert!((growth.rate.value - 800_000.0).abs() < 80_000.0, "{growth:?}");
        assert_eq!(growth.from, "threads");
        assert_eq!(judge(400, 400, &sampled[..6]), None, "too few");
        assert_eq!(judge(19, 19, &sampled), None, "too few");
        // Most have ended.
        assert_eq!(judge(400, 900, &sampled), None);
        // All of them are started at the beginning, and those that wait for work longest get it in no order.
        let early: Vec<(u64, f64)> =
            sampled.iter().map(|(number, at)| (*number, at / 20.0)).collect();
        assert_eq!(judge(400, 400, &early), None);
        let in_no_order: Vec<(u64, f64)> =
            (1..=20).map(|place| (place * 7 % 21 * 19, place as f64 / 2.05)).collect();
        assert_eq!(judge(400, 400, &in_no_order), None);
    }
}
