//! Threads that are started and do not end, by their numbers.
//!
//! The runtime numbers threads in the order in which they are started. So where hardly any has ended, the number of a thread
//! that a sampled block is of tells how many had been started when that was allocated, at least. That is exact, and few
//! samples suffice: threads that were all started at the beginning have numbers in no order, or early ones.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::Clock;
use super::owned::Owner;
use super::thread_number::{ThreadNumber, number};
use memtrail_order::SortRows as _;

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

/// Bytes that an owner had on the stacks of threads, over the work, by the numbers of threads; `last` is the highest number,
/// and `end` when the snapshot was taken. Nothing where threads end, or too few are known.
pub(super) fn sizes(
    owner: &Owner<'_>,
    last: ThreadNumber,
    clock: &Clock,
    end: f64,
) -> Vec<(f64, u64)> {
    let waiting: BTreeSet<ThreadNumber> = owner.rows.iter().filter_map(|row| number(row)).collect();
    let waiting = Waiting { threads: waiting.len(), bytes: owner.bytes(), last };
    let sampled: Vec<(ThreadNumber, f64)> =
        owner.threads.iter().map(|(thread, at)| (*thread, clock.at(*at))).collect();
    waiting.sizes(&sampled, clock.at(end))
}

/// Threads that wait in one function.
struct Waiting {
    threads: usize,
    /// What they own.
    bytes: u64,
    last: ThreadNumber,
}

impl Waiting {
    fn sizes(&self, sampled: &[(ThreadNumber, f64)], end: f64) -> Vec<(f64, u64)> {
        let last = self.last.0 as f64;
        if self.threads < MIN_THREADS || (self.threads as f64) < last * MIN_SHARE_WAITING {
            return Vec::new();
        }
        let mut first: BTreeMap<ThreadNumber, f64> = BTreeMap::new();
        for (thread, at) in sampled {
            let known = first.entry(*thread).or_insert(*at);
            *known = known.min(*at);
        }
        if first.len() < MIN_SAMPLED {
            return Vec::new();
        }
        let mut points: Vec<(f64, u64)> =
            first.into_iter().map(|(thread, at)| (at, self.bytes_of(thread))).collect();
        points.sort_rows_by(|a, b| a.0.total_cmp(&b.0));
        points.push((end, self.bytes_of(self.last)));
        points
    }

    /// What threads own up to this one.
    fn bytes_of(&self, thread: ThreadNumber) -> u64 {
        (thread.0 as f64 * self.bytes as f64 / self.threads.max(1) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::{BySizes, by_sizes};
    use super::*;

    fn grows(threads: usize, last: u64, sampled: &[(u64, f64)]) -> bool {
        let sampled: Vec<(ThreadNumber, f64)> =
            sampled.iter().map(|(number, at)| (ThreadNumber(*number), *at)).collect();
        let waiting = Waiting { threads, bytes: 8_000_000, last: ThreadNumber(last) };
        let (work, sizes): (Vec<f64>, Vec<f64>) =
            waiting.sizes(&sampled, 1.0).into_iter().map(|(at, size)| (at, size as f64)).unzip();
        by_sizes(&work, &sizes, 9e6, false).0 == BySizes::Grows
    }

    /// Of 400 threads that waited, twenty had a sampled block: "too few to judge".
    #[test]
    fn few_samples_are_enough_for_threads_that_do_not_end() {
        let sampled: Vec<(u64, f64)> =
            (1..=20).map(|place| (place * 19, place as f64 / 20.5)).collect();
        assert!(grows(400, 400, &sampled));
        assert!(!grows(400, 400, &sampled[..6]), "too few");
        assert!(!grows(19, 19, &sampled), "too few");
        // Most have ended.
        assert!(!grows(400, 900, &sampled));
        // All of them are started at the beginning, and those that wait for work longest get it in no order.
        let early: Vec<(u64, f64)> =
            sampled.iter().map(|(number, at)| (*number, at / 20.0)).collect();
        assert!(!grows(400, 400, &early));
        let in_no_order: Vec<(u64, f64)> =
            (1..=20).map(|place| (place * 7 % 21 * 19, place as f64 / 20.5)).collect();
        assert!(!grows(400, 400, &in_no_order));
    }
}
