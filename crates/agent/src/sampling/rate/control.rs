//! Decides on the rate: what samples cost is held against the CPU time that the program takes.
//!
//! The time of our captures and callbacks is measured. The system may let others run meanwhile, which
//! is not our cost: what takes many times as long as usual is counted as that many times, no more. What
//! the runtime does for a sample and what cold caches add is taken for half as much again as that
//! ([`BESIDES`]).
//! Both sums fade, so that the last tenth of a second counts most. The rate falls as soon as the share
//! is too high, and rises when twice the samples would be well within it. Nothing here depends on
//! samples to come.
//!
//! A program that mostly waits takes so little time that a share of it pays for a sample a minute, and
//! each costs more, as caches are cold. It is taken to use a tenth of a processor ([`MIN_USE`]):
//! samples then cost the machine nothing that could be noticed, and are enough to judge by.
//!
//! The first samples cost most, as their functions are looked up for the first time and their pages
//! are touched: ten to fifty times what is usual. That ends once the program's call sites are known,
//! so it says nothing about what samples will cost. There is a fixed grant for it ([`GRANT`]), which
//! comes in as the program runs, and nothing of it counts. So short programs keep their samples.
//! Decisions are made when something is sampled, so the rate never falls so low that the next one is
//! long in coming.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::context::halvings::Halvings;
use crate::os::clock;
use crate::os::lock::Lock;

/// Share of the program's CPU time that samples may take.
const BUDGET: f64 = 0.006;
/// Below this share the rate is doubled.
const LOW: f64 = 0.4 * BUDGET;
/// Nanoseconds that a call of ours costs besides its own time. Measured as the CPU time that constant rates of
/// 1e-4 to 1e-3 add, less the time of our calls, for each of them: 0.5 us in coqc, 0.9 in ocamlopt.opt,
/// 1.3 in a program with shallow stacks. It does not grow with the time of the call: the factor was 2.1
/// to 4.7.
const BESIDES: u64 = 1_000;
/// Nanoseconds from one decision to the next, at least.
const INTERVAL: u64 = 2_000_000;
/// CPU time after which an observation counts 1/e.
const MEMORY: f64 = 100e6;
/// The base rate is halved so often at most: of a program that allocates 200 million words a second,
/// a hundred samples a second remain at the default rate.
const MAX_HALVINGS: u8 = 7;
/// The rate is halved or doubled so often at most in one decision. Estimates are the better the less
/// it moves.
const STEPS: u8 = 2;
/// CPU time that counts as having passed without a sample when the program starts.
const ALLOWANCE: f64 = MEMORY;
/// Nanoseconds of ours that never count, once in a process's life, and those of them that are there
/// when it starts. The others come with its CPU time, one in so many nanoseconds: a process that lives
/// for a moment does not spend a large part of it on samples.
const GRANT: u64 = 5_000_000;
const GRANT_AT_START: u64 = 1_000_000;
const GRANT_SHARE: u64 = 50;
/// A program counts as if it used one processor for at least one part in so many of the time.
const MIN_USE: u64 = 10;
/// What takes longer than so many times the usual is not what samples cost at any rate: others run
/// meanwhile, or functions are looked up for the first time.
const MAX_COST_RATIO: u64 = 8;
/// A call adds so many times the usual to what is usual, at most. It has to be less than
/// [`MAX_COST_RATIO`]: where one call in eight were slow, each would raise the limit for the next.
const MAX_MEAN_RATIO: u64 = 3;
/// What is usual at first, in nanoseconds.
const USUAL: u64 = 1_000;

/// What samples cost.
struct Meter {
    /// Our time since the last decision.
    spent: AtomicU64,
    /// Nanoseconds that a call takes, 64 times over. Threads may overwrite each other's, to no harm.
    mean: AtomicU64,
    /// When to decide next.
    due: AtomicU64,
    balance: Lock<Balance>,
}

static METER: Meter = Meter {
    spent: AtomicU64::new(0),
    mean: AtomicU64::new(64 * USUAL),
    due: AtomicU64::new(0),
    balance: Lock::new(Balance::new()),
};

struct Balance {
    /// The process's CPU time at the last decision.
    cpu: u64,
    /// When that was.
    at: u64,
    /// What samples have cost, at the rate that is wanted now, fading.
    spent: f64,
    /// What the program has taken, fading.
    total: f64,
    /// What is there of the grant, and what is still to come.
    granted: u64,
    ungranted: u64,
}

/// Starts to measure.
pub(super) fn begin() {
    let now = clock::monotonic();
    {
        let mut balance = METER.balance.lock();
        (balance.cpu, balance.at) = (clock::of_process(), now);
    }
    METER.due.store(now + INTERVAL, Relaxed);
}

/// Our code ran from one time to another. What the rate is to be, if that is due to be decided.
#[inline]
pub(super) fn spent(from: u64, to: u64, wanted: Halvings) -> Option<Halvings> {
    let (counted, mean) = count(to.saturating_sub(from), METER.mean.load(Relaxed));
    METER.mean.store(mean, Relaxed);
    METER.spent.fetch_add(counted + BESIDES, Relaxed);
    if to < METER.due.load(Relaxed) { None } else { decide(to, wanted) }
}

/// What counts of the time that a call took, and what is usual after it, 64 times over.
#[inline]
fn count(time: u64, mean: u64) -> (u64, u64) {
    let usual = mean / 64;
    let mean = mean - usual + time.min(MAX_MEAN_RATIO * usual);
    (time.min(MAX_COST_RATIO * usual), mean.max(64 * USUAL / 8))
}

#[cold]
fn decide(now: u64, wanted: Halvings) -> Option<Halvings> {
    // Another thread may be at it.
    let mut balance = METER.balance.try_lock()?;
    METER.due.store(now + INTERVAL, Relaxed);
    let passed = balance.passed(clock::of_process(), now)?;
    let spent = balance.beyond_grant(METER.spent.swap(0, Relaxed), passed);
    Some(balance.weigh(spent, passed, wanted))
}

impl Balance {
    const fn new() -> Self {
        let (granted, ungranted) = (GRANT_AT_START, GRANT - GRANT_AT_START);
        Self { cpu: 0, at: 0, spent: 0.0, total: ALLOWANCE, granted, ungranted }
    }

    /// What counts of what was spent: what the grant does not cover.
    fn beyond_grant(&mut self, spent: u64, passed: u64) -> u64 {
        let comes = self.ungranted.min(passed / GRANT_SHARE);
        self.ungranted -= comes;
        self.granted += comes;
        let covered = spent.min(self.granted);
        self.granted -= covered;
        spent - covered
    }

    /// The time that counts as the program's since the last decision; none in a forked child, whose time begins anew.
    ///
    /// What it waited counts up to [`MEMORY`]: after an hour's wait not all of what comes next is free.
    fn passed(&mut self, cpu: u64, now: u64) -> Option<u64> {
        let used = cpu.checked_sub(self.cpu);
        let waited = now.saturating_sub(self.at) / MIN_USE;
        (self.cpu, self.at) = (cpu, now);
        Some(used?.max(waited.min(MEMORY as u64)))
    }

    fn weigh(&mut self, spent: u64, passed: u64, wanted: Halvings) -> Halvings {
        let keep = (-(passed as f64) / MEMORY).exp();
        self.spent = self.spent * keep + spent as f64;
        self.total = self.total * keep + passed as f64;
        let share = self.spent / self.total.max(1.0);
        let (mut halvings, mut predicted) = (wanted.0, share);
        let highest = MAX_HALVINGS.min(halvings + STEPS);
        while predicted > BUDGET && halvings < highest {
            halvings += 1;
            predicted /= 2.0;
        }
        let lowest = halvings.saturating_sub(STEPS);
        while predicted < LOW && halvings > lowest {
            halvings -= 1;
            predicted *= 2.0;
        }
        if share > 0.0 {
            // What was spent lately would have been spent at the new rate.
            self.spent *= predicted / share;
        }
        Halvings(halvings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = 10_000_000;

    fn balance() -> Balance {
        Balance::new()
    }

    /// Decides again and again while samples at the base rate take this share of our time.
    fn settles(balance: &mut Balance, share: f64, from: Halvings) -> Halvings {
        (0..200).fold(from, |wanted, _| {
            let spent = STEP as f64 * share / wanted.weight() as f64;
            balance.weigh(spent as u64, STEP, wanted)
        })
    }

    #[test]
    fn the_rate_falls_until_samples_are_within_the_budget() {
        for halvings in 1..=MAX_HALVINGS {
            // Just affordable at this rate, and not at twice as much.
            let share = 0.9 * BUDGET * f64::from(1 << halvings);
            let found = settles(&mut balance(), share, Halvings(0));
            assert_eq!(found, Halvings(halvings), "{share}");
        }
    }

    #[test]
    fn the_rate_rises_again_when_samples_are_cheap() {
        let mut balance = balance();
        let high = settles(&mut balance, 64.0 * BUDGET, Halvings(0));
        assert!(high.0 > 4, "{high:?}");
        assert_eq!(settles(&mut balance, 0.1 * BUDGET, high), Halvings(0));
        assert_eq!(
            settles(&mut balance, 0.0, Halvings(MAX_HALVINGS)),
            Halvings(0),
            "without samples"
        );
    }

    #[test]
    fn no_decision_moves_the_rate_by_more_than_its_steps() {
        let wanted = balance().weigh(u64::MAX, 1, Halvings(0));
        assert_eq!(wanted, Halvings(STEPS));
        assert_eq!(
            balance().weigh(0, STEP, Halvings(MAX_HALVINGS)),
            Halvings(MAX_HALVINGS - STEPS)
        );
        let mut balance = balance();
        let highest = settles(&mut balance, 1e6, Halvings(0));
        assert_eq!(highest, Halvings(MAX_HALVINGS));
    }

    /// Where one call in eight was slow, the limit of what counts rose with each, and the rate fell to the lowest.
    #[test]
    fn calls_that_are_often_slow_do_not_become_usual() {
        for one_in in [4, 6, 8] {
            let mut mean = 64 * USUAL;
            let calls = (0..10_000_u64).map(|n| if n % one_in == 0 { 200_000 } else { 1_000 });
            for time in calls {
                (_, mean) = count(time, mean);
            }
            let usual = mean / 64;
            assert!(usual < 4_000, "one in {one_in}: {usual}");
            let (counted, _) = count(1_500, mean);
            assert_eq!(counted, 1_500);
        }
        // Two kinds of calls are both usual.
        let mut mean = 64 * USUAL;
        for n in 0..10_000 {
            let time = if n % 10 < 3 { 1_500 } else { 80 };
            let (counted, next) = count(time, mean);
            mean = next;
            assert!(n < 1_000 || counted == time, "{n}: {counted}");
        }
    }

    #[test]
    fn the_grant_comes_with_the_programs_time_and_once() {
        let mut balance = balance();
        assert_eq!(balance.beyond_grant(GRANT_AT_START + 7, 0), 7);
        assert_eq!(balance.beyond_grant(1_000, 10_000 * GRANT_SHARE), 0);
        assert_eq!(balance.beyond_grant(10_000, 0), 1_000);
        // However long it runs.
        let spent: u64 =
            (0..100).map(|_| 1_000_000 - balance.beyond_grant(1_000_000, 1 << 40)).sum();
        assert_eq!(spent, GRANT - GRANT_AT_START - 10_000);
    }

    #[test]
    fn the_first_samples_have_an_allowance() {
        // As much as all of the allowance's budget, in no time at all.
        let spent = 0.9 * ALLOWANCE * BUDGET;
        assert_eq!(balance().weigh(spent as u64, 1, Halvings(0)), Halvings(0));
        assert_ne!(balance().weigh(2 * spent as u64, 1, Halvings(0)), Halvings(0));
    }

    const SECOND: u64 = 1_000_000_000;

    /// A server that uses a third of a percent of a processor. Its rate fell to the lowest.
    #[test]
    fn a_program_that_mostly_waits_is_sampled_all_the_same() {
        let mut balance = balance();
        let mut wanted = Halvings(MAX_HALVINGS);
        // Ten samples a second at the base rate, 15 us each: with what is beside, 11 % of its time.
        for second in 1..=60 {
            let passed = balance.passed(second * SECOND / 300, second * SECOND).unwrap();
            wanted = balance.weigh(150_000 / wanted.weight(), passed, wanted);
        }
        assert_eq!(wanted, Halvings(0));
    }

    /// However many it takes at the base rate, they cost less than a thousandth of a processor's time.
    #[test]
    fn samples_of_a_program_that_mostly_waits_have_a_budget() {
        for full in [1_000_000, 4_000_000] {
            let mut balance = balance();
            let (mut wanted, mut spent) = (Halvings(0), 0);
            for second in 1..=600 {
                let passed = balance.passed(second * SECOND / 100, second * SECOND).unwrap();
                let cost = full / wanted.weight();
                spent += cost;
                wanted = balance.weigh(cost, passed, wanted);
            }
            assert!((spent as f64) < 600e9 * BUDGET / MIN_USE as f64, "{full}: {spent}");
        }
    }

    #[test]
    fn time_that_a_busy_program_waits_does_not_count() {
        let mut balance = balance();
        assert_eq!(balance.passed(SECOND / 10, SECOND), Some(SECOND / 10));
        // After an hour without work it is owed a moment, not six minutes.
        assert_eq!(balance.passed(SECOND / 10, 3601 * SECOND), Some(MEMORY as u64));
        // A forked child.
        assert_eq!(balance.passed(0, 3602 * SECOND), None);
        assert_eq!(balance.passed(SECOND, 3603 * SECOND), Some(SECOND));
    }
}
