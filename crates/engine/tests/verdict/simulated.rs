//! Thousands of histories through the judging of exact sizes: bounds of what it finds wrongly and of what it misses.

use memtrail_engine::leaks::verdict::{BySizes, by_sizes};

use crate::verdict::histories::{Kind, LEAKS, SOUND, even};
use crate::verdict::random::Random;

const MIB: f64 = 1_048_576.0;

/// Histories of each kind. `MEMTRAIL_HISTORIES=5000` for a closer look.
fn histories() -> usize {
    std::env::var("MEMTRAIL_HISTORIES").map_or(300, |count| count.parse().expect("a number"))
}

/// How histories of a kind were judged: grows, cannot be judged, does not.
fn judged(kind: &Kind, snapshots: usize, random: &mut Random) -> [usize; 3] {
    let mut counts = [0; 3];
    for _ in 0..histories() {
        let history = (kind.1)(random);
        let work = even(random, snapshots);
        let sizes: Vec<f64> = work.iter().map(|at| (history(*at).max(0.0) * MIB).floor()).collect();
        let most = sizes.iter().copied().fold(MIB, f64::max);
        counts[match by_sizes(&work, &sizes, 4.0 * most, false).0 {
            BySizes::Grows => 0,
            BySizes::Maybe | BySizes::Unknown => 1,
            BySizes::Steady => 2,
        }] += 1;
    }
    counts
}

/// Parts of sound histories that are found, and of leaks that are missed.
fn rates(snapshots: usize) -> (f64, f64) {
    let mut random = Random(7);
    let (mut wrong, mut missed) = (0, 0);
    for kind in &SOUND {
        let [grows, ..] = judged(kind, snapshots, &mut random);
        println!("{snapshots}: {}: {grows} grow", kind.0);
        wrong += grows;
    }
    for kind in &LEAKS {
        let [_, unknown, steady] = judged(kind, snapshots, &mut random);
        println!("{snapshots}: {}: {steady} missed, {unknown} cannot be judged", kind.0);
        missed += steady;
    }
    let of = |count: usize, kinds: usize| count as f64 / (histories() * kinds) as f64;
    (of(wrong, SOUND.len()), of(missed, LEAKS.len()))
}

#[test]
fn twenty_four_sizes_find_nothing_wrong_and_miss_hardly_a_leak() {
    let (wrong, missed) = rates(24);
    assert!(wrong <= 0.001, "{wrong}");
    assert!(missed <= 0.005, "{missed}");
}

#[test]
fn twelve_sizes_are_nearly_as_good() {
    let (wrong, missed) = rates(12);
    assert!(wrong <= 0.005, "{wrong}");
    assert!(missed <= 0.005, "{missed}");
}

#[test]
fn four_sizes_find_hardly_anything_wrong_and_clear_no_leak() {
    let (wrong, missed) = rates(4);
    assert!(wrong <= 0.001, "{wrong}");
    assert!(missed == 0.0, "{missed}");
}
