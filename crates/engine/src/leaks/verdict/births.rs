//! Birth dates of what is alive. An even leak keeps a random choice of all that was allocated, a warm-up the early blocks, a
//! cache the late ones.

use super::constants::{BLOCKS, COLLECTION, ENDS, MIDDLE, RISE};
use super::evidence::{Evidence, Life, OwnerEvidence};

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
    let is_spread = count >= BLOCKS && first.min(last) >= 2 && (mean - 0.5).abs() <= MIDDLE;
    if is_spread { Dates::Spread } else { Dates::Few }
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
    let mut lives: Vec<f64> =
        owner.freed.iter().filter(lived).map(|life| life.died - life.born).collect();
    lives.sort_by(f64::total_cmp);
    // What a queue that falls behind has freed lived for less than what it has.
    lives.get(lives.len() / 2).is_some_and(|life| *life >= 0.75 * (1.0 - first))
}

/// True if blocks live the longer the later they are allocated, until the end: a queue that falls behind. At a steady rate of
/// allocation, what is alive grows as lifetimes do.
pub(super) fn falls_behind(owner: &OwnerEvidence) -> bool {
    if owner.freed.len() < super::constants::QUEUED {
        return false;
    }
    let lives = of_collections(&owner.freed);
    let later = &lives[lives.len() / 2..];
    rise(&lives) >= RISE && rise(later) >= RISE / 2.0
}

/// Mean date and lifetime of the blocks that each collection freed. Blocks of one collection are one observation: its moment
/// alone gives them their lifetimes.
fn of_collections(freed: &[Life]) -> Vec<(f64, f64)> {
    let mut freed = freed.to_vec();
    freed.sort_by(|a, b| a.died.total_cmp(&b.died));
    let mut means = Vec::new();
    let mut rest = &freed[..];
    while let Some(first) = rest.first() {
        let (one, later) =
            rest.split_at(rest.partition_point(|life| life.died - first.died < COLLECTION));
        let mean = |of: fn(&Life) -> f64| one.iter().map(of).sum::<f64>() / one.len() as f64;
        means.push((mean(|life| life.born), mean(|life| life.died - life.born)));
        rest = later;
    }
    means
}

/// Deviations by which more pairs have the later one living longer (Kendall).
fn rise(lives: &[(f64, f64)]) -> f64 {
    let mut rises = 0.0;
    for (place, (_, later)) in lives.iter().enumerate() {
        for (_, earlier) in &lives[..place] {
            let longer = later - earlier;
            rises += if longer.abs() < 1e-9 { 0.0 } else { longer.signum() };
        }
    }
    let n = lives.len() as f64;
    let variance = n * (n - 1.0) * 2.0f64.mul_add(n, 5.0) / 18.0;
    if n > 1.0 { rises / variance.sqrt() } else { 0.0 }
}
