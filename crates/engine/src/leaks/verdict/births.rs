//! Birth dates of what is alive. An even leak keeps a random choice of all that was allocated, a warm-up the early blocks, a
//! cache the late ones.

use std::collections::BTreeMap;

use super::constants::{BLOCKS, COLLECTION, DELAY, ENDS, FREED, MIDDLE, QUEUED, RENEWED, RISE};
use super::evidence::{Evidence, Life, OwnerEvidence, Phase};
use memtrail_order::SortRows as _;

/// What birth dates say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dates {
    /// They are spread over the work, as those of a leak are.
    Spread,
    /// They are early: it was filled once.
    Early,
    /// They are late: a cache, or a queue.
    Recent,
    /// There are too few.
    Few,
}

/// Deviations of a mean that is clearly lower or higher: once in a hundred times.
const SURE: f64 = 2.33;
/// Probability of so long a time before the first date, below which it is no chance.
const CHANCE: f64 = 0.01;
/// Part of the work after which a leak begins like a stage of a task; half of it is between two stages at most.
const STAGE: f64 = 0.2;
/// Part of the work since a leak began in which a block dies that was never kept.
const PASSING: f64 = 0.1;

/// Judges the dates since a part of the work, as ranks among all samples: the rate of sampling may change.
pub(super) fn dates(all: &Evidence, owner: &OwnerEvidence, since: f64) -> Dates {
    let start = all.rank(since);
    let span = (1.0 - start).max(f64::MIN_POSITIVE);
    let part = |work: f64| (all.rank(work) - start) / span;
    let ranks: Vec<f64> =
        owner.births.iter().filter(|at| **at >= since).map(|at| part(*at)).collect();
    let count = ranks.len();
    if count < 3 {
        return Dates::Few;
    }
    let mean = ranks.iter().sum::<f64>() / count as f64;
    let error = SURE / (12.0 * count as f64).sqrt();
    let by_work: Vec<f64> =
        owner.births.iter().map(|at| (at - since) / (1.0 - since).max(f64::MIN_POSITIVE)).collect();
    let first = by_work.iter().filter(|at| (0.0..ENDS).contains(*at)).count();
    let last = by_work.iter().filter(|at| **at > 1.0 - ENDS).count();
    // What an even leak leaves there.
    let moment = |of: f64| (1.0 - since).mul_add(of, since);
    let early = count as f64 * part(moment(ENDS));
    let late = count as f64 * (1.0 - part(moment(1.0 - ENDS)));
    if mean + error < 0.5 - MIDDLE || (last == 0 && late >= 5.0) {
        return Dates::Early;
    }
    if mean - error > 0.5 + MIDDLE || (first == 0 && early >= 5.0) {
        return Dates::Recent;
    }
    // A stage of a task that takes most of the work has its mean near the middle, but nothing from the beginning.
    let oldest = ranks.iter().copied().fold(1.0, f64::min);
    let began_with_the_work = (1.0 - oldest).powi(count as i32) >= CHANCE;
    let is_spread = count >= BLOCKS
        && first.min(last) >= 2
        && (mean - 0.5).abs() <= MIDDLE
        && began_with_the_work;
    if is_spread { Dates::Spread } else { Dates::Few }
}

/// True if dates are early also by the bytes that they stand for. Where the rate fell, the many samples of a start count for
/// little: what a program loads first hides that it has grown ever since.
pub(super) fn is_early(owner: &OwnerEvidence, since: f64) -> bool {
    let span = (1.0 - since).max(f64::MIN_POSITIVE);
    let dated = || owner.dated().filter(|(at, _)| *at >= since);
    let all: f64 = dated().map(|(_, bytes)| bytes).sum();
    if all <= 0.0 {
        return true;
    }
    let mean = dated().map(|(at, bytes)| (at - since) / span * bytes).sum::<f64>() / all;
    // As many samples of one size say as much.
    let count = all * all / dated().map(|(_, bytes)| bytes * bytes).sum::<f64>();
    let is_none_late = dated().all(|(at, _)| at <= (1.0 - since).mul_add(1.0 - ENDS, since));
    mean + SURE / (12.0 * count).sqrt() < 0.5 - MIDDLE || (is_none_late && count * ENDS >= 5.0)
}

/// The moment at which it began, if that is within the first half of the work and all is kept since. A feature that is used
/// from then on leaks so.
///
/// A cache whose oldest block is as old has freed what was there before. The data of a stage of a task begin with the stage.
/// So the same call sites must be known to allocate before.
pub(super) fn began_late(all: &Evidence, owner: &OwnerEvidence) -> Option<f64> {
    let first = *owner.births.first()?;
    // A block that dies at once was never kept: the same call sites make it for other uses.
    let is_kept_for_long = |life: &&Life| life.died - life.born >= PASSING * (1.0 - first);
    let freed = owner.freed.iter().filter(is_kept_for_long).count();
    let is_kept = freed as f64 <= FREED * owner.births.len() as f64;
    let began = first <= 0.5
        && owner.births.len() >= 2 * BLOCKS
        && is_kept
        && dates(all, owner, first) == Dates::Spread
        && (first <= STAGE || is_of_same_work(all, owner, first));
    began.then_some(first)
}

/// True if the same work is done before a moment, or from it on until a program is stopped.
fn is_of_same_work(all: &Evidence, owner: &OwnerEvidence, first: f64) -> bool {
    let is_known = all.same_work(first).is_some();
    match all.phase(first) {
        Phase::Steady => all.is_stopped,
        Phase::Same if all.is_stopped => is_known,
        Phase::Same | Phase::Changing | Phase::Unclear => is_known && !follows_another(all, owner),
    }
}

/// True if another owner was filled until this one began: a stage of a task reads what the last one built.
fn follows_another(all: &Evidence, owner: &OwnerEvidence) -> bool {
    let Some(first) = owner.births.first() else { return false };
    all.owners.iter().any(|other| {
        let ended = other.births.last().is_some_and(|last| (first - last).abs() <= STAGE / 2.0);
        ended && 2 * other.births.len() >= owner.births.len()
    })
}

/// True if blocks of the same call sites still stayed after the last snapshot, false if they did not; nothing if too few
/// are expected.
pub(super) fn goes_on(all: &Evidence, owner: &OwnerEvidence) -> Option<bool> {
    let part = all.after as f64 / (all.before + all.after).max(1) as f64;
    let expected = owner.live as f64 * part / (1.0 - part).max(0.01);
    let stayed = owner.stayed as f64;
    if expected >= 5.0 && stayed < 0.2 * expected {
        return Some(false);
    }
    (stayed >= (0.4 * expected).max(2.0)).then_some(true)
}

/// True if most of what is alive is no older than what was freed: it is still to be freed.
pub(super) fn turns_over(owner: &OwnerEvidence) -> bool {
    let mut lives: Vec<f64> = owner.freed.iter().map(|life| life.died - life.born).collect();
    lives.sort_rows_by(f64::total_cmp);
    let Some(longest) = lives.get(lives.len() * 19 / 20).filter(|_| lives.len() >= QUEUED) else {
        return false;
    };
    let old = owner.births.iter().filter(|at| 1.0 - **at > *longest).count();
    2 * old < owner.births.len()
}

/// The fate of the blocks that an owner had in the middle of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// Most are kept.
    Kept,
    /// As many were given back as came since, or nearly as many.
    Renewed,
    /// As many were given back, and it is not known when: no collection has come since.
    Unclear,
}

/// Tells if blocks that came after the middle of the work took the place of others. An array of values that are replaced one by
/// one has as evenly spread dates as a leak.
pub(super) fn renewal(owner: &OwnerEvidence, size: f64) -> Renewal {
    const MIDDLE: f64 = 0.5;
    let all: f64 = owner.dated().map(|(_, bytes)| bytes).sum();
    let late: f64 = owner.dated().filter(|(at, _)| *at > MIDDLE).map(|(_, bytes)| bytes).sum();
    let gained = size * late / all.max(f64::MIN_POSITIVE);
    // A block that dies at once waits for the next collection, too.
    let gone = |life: &&Life| {
        life.born <= MIDDLE && life.died > MIDDLE && life.died - life.born >= PASSING
    };
    let lost: f64 = owner.freed.iter().filter(gone).map(|life| life.bytes).sum();
    if lost >= RENEWED * gained {
        Renewal::Renewed
    } else if lost + owner.waiting >= RENEWED * gained {
        Renewal::Unclear
    } else {
        Renewal::Kept
    }
}

/// True if what was there before lived as long as what is there, and was freed: a cache that is renewed.
pub(super) fn is_renewed(owner: &OwnerEvidence, size: f64) -> bool {
    let births = &owner.births;
    let (Some(first), Some(middle)) = (births.get(births.len() / 20), births.get(births.len() / 2))
    else {
        return false;
    };
    let age = 1.0 - middle;
    let lived = |life: &&Life| life.died - life.born >= age / 2.0;
    let gone: f64 = owner
        .freed
        .iter()
        .filter(lived)
        .filter(|life| life.born < *first)
        .map(|life| life.bytes)
        .sum();
    if gone < 0.3 * size * first / (1.0 - first).max(f64::MIN_POSITIVE) {
        return false;
    }
    // Collections that are far apart make lifetimes seem longer: of a queue that falls behind, what was freed seemed as old as
    // what is there.
    let lives = lives(&owner.freed);
    let long = lives.iter().filter(|life| life.limits.1 >= age / 2.0);
    let mut long: Vec<f64> = long.map(|life| f64::midpoint(life.limits.0, life.limits.1)).collect();
    long.sort_rows_by(f64::total_cmp);
    // What a queue that falls behind has freed lived for less than what it has.
    long.get(long.len() / 2).is_some_and(|life| *life >= 0.75 * (1.0 - first))
}

/// True if blocks live the longer the later they are allocated, until the end: a queue that falls behind. At a steady rate of
/// allocation, what is alive grows as lifetimes do.
///
/// A lifetime is known up to the distance between collections. While the heap grows, collections become rarer, and the upper
/// limits of equal lifetimes rise. So a block surely lived longer than another only if its lower limit is above the other's
/// upper one. Later blocks must live longer to the end, by the upper limits.
///
/// The blocks of one collection are one observation: five hundred blocks that three collections freed tell of three lifetimes.
/// So the mean lifetime in each collection must rise, too.
pub(super) fn falls_behind(owner: &OwnerEvidence) -> bool {
    let lives = lives(&owner.freed);
    let blocks: Vec<(f64, f64)> = lives.iter().map(|life| life.limits).collect();
    let later: Vec<(f64, f64)> =
        blocks[blocks.len() / 2..].iter().map(|(_, upper)| (*upper, *upper)).collect();
    owner.births.len() >= BLOCKS
        && blocks.len() >= QUEUED
        && rise(&blocks) >= RISE
        && rise(&later) >= RISE / 2.0
        && rise(&of_collections(&lives)) >= RISE / 2.0
}

/// A lifetime that is known up to the distance between collections.
struct Lived {
    /// Number of the collection that freed it.
    collection: usize,
    /// Lower and upper limit of the lifetime.
    limits: (f64, f64),
}

/// Means of both limits in each collection.
fn of_collections(lives: &[Lived]) -> Vec<(f64, f64)> {
    let mut sums: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for life in lives {
        let sum = sums.entry(life.collection).or_default();
        *sum = (sum.0 + life.limits.0, sum.1 + life.limits.1, sum.2 + 1.0);
    }
    sums.values().map(|(lower, upper, count)| (lower / count, upper / count)).collect()
}

/// The lifetime of each block that was freed, by the date of its allocation.
fn lives(freed: &[Life]) -> Vec<Lived> {
    let mut deaths: Vec<f64> = freed.iter().map(|life| life.died).collect();
    deaths.sort_rows_by(f64::total_cmp);
    let mut collections: Vec<f64> = Vec::new();
    for died in deaths {
        if collections.last().is_none_or(|last| died - last >= COLLECTION) {
            collections.push(died);
        }
    }
    let mut lives = freed.to_vec();
    lives.sort_rows_by(|a, b| a.born.total_cmp(&b.born));
    let lived = |life: &Life| {
        // The collection that freed it began with the first death that it has.
        let collection = collections.partition_point(|at| *at <= life.died).saturating_sub(1);
        let before = collection.checked_sub(DELAY).and_then(|place| collections.get(place));
        let lower = before.map_or(0.0, |at| (at - life.born).max(0.0));
        Lived { collection, limits: (lower, life.died - life.born) }
    };
    lives.iter().map(lived).collect()
}

/// Deviations by which more pairs have the later one living longer (Kendall).
fn rise(lives: &[(f64, f64)]) -> f64 {
    let mut rises = 0.0;
    for (place, later) in lives.iter().enumerate() {
        for earlier in &lives[..place] {
            rises += f64::from(later.0 > earlier.1) - f64::from(later.1 < earlier.0);
        }
    }
    let n = lives.len() as f64;
    let variance = n * (n - 1.0) * 2.0f64.mul_add(n, 5.0) / 18.0;
    if n > 1.0 { rises / variance.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks born at even steps that live for a part of the work, and are freed by the next collection.
    fn collected(life: impl Fn(f64) -> f64, collections: &[f64]) -> OwnerEvidence {
        let freed = (0..200).filter_map(|step| {
            let born = f64::from(step) / 200.0;
            let died = collections.iter().find(|at| **at >= born + life(born))?;
            Some(Life { born, died: *died, bytes: 1.0 })
        });
        let births = (0..20).map(|step| f64::from(step).mul_add(0.005, 0.9)).collect();
        OwnerEvidence { freed: freed.collect(), births, ..OwnerEvidence::default() }
    }

    /// An array of 60 MB whose values were replaced one by one was a leak.
    #[test]
    fn values_that_take_the_place_of_others_are_no_growth() {
        let owner = |freed: usize, waiting: f64| {
            let live = (0..100).map(|step| if step < 62 { 0.1 } else { f64::from(step) / 100.0 });
            let freed = vec![Life { born: 0.1, died: 0.8, bytes: 1.0 }; freed];
            let (births, weights) = (live.collect(), vec![1.0; 100]);
            OwnerEvidence { births, weights, freed, waiting, ..OwnerEvidence::default() }
        };
        assert_eq!(renewal(&owner(38, 0.0), 100.0), Renewal::Renewed);
        // They wait for a collection, and may have been dead for long.
        assert_eq!(renewal(&owner(0, 38.0), 100.0), Renewal::Unclear);
        assert_eq!(renewal(&owner(0, 0.0), 100.0), Renewal::Kept);
        // The owner never had the short-lived blocks of its call site.
        let passing = vec![Life { born: 0.48, died: 0.52, bytes: 1.0 }; 200];
        let leak = OwnerEvidence { freed: passing, ..owner(0, 0.0) };
        assert_eq!(renewal(&leak, 100.0), Renewal::Kept);
    }

    /// Moments of collections of a heap that grows: each is farther from the last.
    const RARER: [f64; 9] = [0.1, 0.16, 0.22, 0.28, 0.35, 0.47, 0.62, 0.77, 0.96];

    #[test]
    fn a_queue_of_even_length_does_not_fall_behind_while_collections_become_rarer() {
        for life in [0.0, 0.02, 0.1, 0.2] {
            assert!(!falls_behind(&collected(|_| life, &RARER)), "{life}");
        }
    }

    /// With `Gc.finalise`, one run in 25 had a queue: the blocks of one late collection lived longer.
    #[test]
    fn many_blocks_of_one_collection_do_not_fall_behind() {
        let late = |born: f64| if born > 0.75 { 0.3 } else { 0.05 };
        let often = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.97, 1.1];
        let mut owner = collected(late, &often);
        let (few, many): (Vec<Life>, Vec<Life>) =
            owner.freed.iter().partition(|life| life.born < 0.75);
        owner.freed = few.into_iter().step_by(8).chain(many).collect();
        assert!(!falls_behind(&owner));
    }

    #[test]
    fn a_queue_whose_blocks_live_longer_and_longer_falls_behind() {
        let often: Vec<f64> = (1..50).map(|step| f64::from(step) / 50.0).collect();
        assert!(falls_behind(&collected(|born| 0.5 * born, &often)));
    }
}
