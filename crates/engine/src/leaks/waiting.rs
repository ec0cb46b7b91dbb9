//! Programs that worked and then waited until the snapshot: servers without visitors, for the most part.
//!
//! By time, whatever such a program allocated was allocated early, and does not grow any more. So it is judged by the
//! time until the program began to wait. A cache that was filled at the start is not told from a leak by growth alone
//! then: what grew must have grown from the beginning, for more than a moment, and hardly any of it must have been freed.

use super::clock::Clock;
use super::growth::{self, GrowthRate, Judgement};
use super::sampled::{self, Lifetime};

/// The part of all allocation that comes before a program waits: a little goes on.
const WORK: f64 = 0.98;
/// If a program worked for a smaller part of the time, it has started, and not done anything yet, unless it worked now and
/// then.
const MIN_WORKED: f64 = 0.1;
/// If it worked for a larger part, its times are those of its work.
const MAX_WORKED: f64 = 0.5;

/// If a larger part of what was allocated for an owner was freed, the owner is in use, and not only filled.
const MAX_FREED: f64 = 0.1;

/// Whether almost all that was allocated for an owner is kept. Arrays that tables outgrow are not.
pub(super) fn is_kept(blocks: &[Lifetime]) -> bool {
    let sum =
        |blocks: &mut dyn Iterator<Item = &Lifetime>| blocks.map(|block| block.bytes).sum::<f64>();
    let freed = sum(&mut blocks.iter().filter(|block| block.freed.is_some()));
    freed <= sum(&mut blocks.iter()) * MAX_FREED
}

/// When the program began to wait, in seconds, if it did nothing else for most of the time before `end`.
pub(super) fn waits_since(clock: &Clock, end: f64) -> Option<f64> {
    if !clock.tells_pauses() {
        return None;
    }
    let since = clock.time(WORK);
    let has_started = || end * MIN_WORKED <= since || clock.works_now_and_then(since);
    (since < end * MAX_WORKED && has_started()).then_some(since)
}

/// Judges by exact sizes of the time before the program began to wait. Its last snapshot may be one of later, as what
/// is allocated while it waits is little.
pub(super) fn by_snapshots(times: &[f64], sizes: &[u64], since: f64) -> Judgement {
    let count = (times.partition_point(|at| *at < since) + 1).min(times.len()).min(sizes.len());
    let worked: Vec<f64> = times[..count].iter().map(|at| at.min(since)).collect();
    began_with_it(growth::by_snapshots(&worked, &sizes[..count]), since)
}

/// Judges by sampled blocks, by the clock of allocation, which stands while the program waits.
pub(super) fn by_samples(blocks: &[Lifetime], clock: &Clock, since: f64) -> Judgement {
    began_with_it(sampled::by_samples(blocks, clock), since)
}

/// What began later is a step of a task, such as the last one of a compiler that waits for the assembler.
fn began_with_it(judgement: Judgement, since: f64) -> Judgement {
    match judgement {
        Judgement::Grows(growth) if growth.since > 0.0 => Judgement::Steady,
        Judgement::Grows(growth) => Judgement::Grows(GrowthRate { until: Some(since), ..growth }),
        judgement => judgement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_wait_that_allocate_hardly_anything_any_more() {
        let clock = Clock::even(100.0);
        assert_eq!(waits_since(&clock, 100.0), None);
        assert_eq!(waits_since(&clock, 300.0), Some(98.0));
        // Only its start is known.
        assert_eq!(waits_since(&clock, 3_000.0), None);
    }

    /// With one sampled block in the first half of the time, a program that works all the time was said to wait since then.
    #[test]
    fn few_samples_do_not_tell_that_a_program_waits() {
        for blocks in [0, 1, 5, 29] {
            assert_eq!(waits_since(&Clock::of_early(blocks), 3.0), None, "{blocks}");
        }
        assert_eq!(waits_since(&Clock::of_early(30), 3.0), Some(0.9));
    }

    /// A server leaked for two of six minutes, with a snapshot each twenty seconds.
    #[test]
    fn what_grew_until_the_program_waited_grows() {
        let times: Vec<f64> = (1..=18).map(|number| f64::from(number) * 20.0).collect();
        let leaked = |at: &f64| (at.min(120.0) * 1_000.0) as u64;
        let sizes: Vec<u64> = times.iter().map(leaked).collect();
        assert_eq!(growth::by_snapshots(&times, &sizes), Judgement::Steady);
        let Judgement::Grows(growth) = by_snapshots(&times, &sizes, 118.0) else { panic!() };
        assert!((growth.rate.value - 1_000.0).abs() < 50.0, "{growth:?}");
        assert_eq!(growth.until, Some(118.0));
        // A cache that is full after a third of the work, and one that is emptied now and then.
        let full: Vec<u64> = times.iter().map(|at| (at.min(40.0) * 1_000.0) as u64).collect();
        assert_eq!(by_snapshots(&times, &full, 118.0), Judgement::Steady);
        let bounded: Vec<u64> = times.iter().map(|at| (at.min(120.0) as u64 % 50) * 999).collect();
        assert_eq!(by_snapshots(&times, &bounded, 118.0), Judgement::Steady);
    }

    /// The instructions of `ocamlopt` were complete before it waited for the assembler.
    #[test]
    fn a_late_step_of_a_task_before_a_long_wait_does_not_grow() {
        let times = [10.0, 54.0, 60.0, 63.0, 67.0, 70.0, 75.0, 81.0, 90.0, 264.0];
        let sizes = [0, 0, 0, 0, 0, 1_168, 28_989_952, 81_670_400, 121_614_512, 121_614_512];
        assert_eq!(by_snapshots(&times, &sizes, 88.0), Judgement::Steady);
    }
}
