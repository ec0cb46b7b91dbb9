//! One snapshot, and the birth dates of a few live samples.

use memtrail_engine::leaks::verdict::{
    Class, Evidence, MAX_RANKS, OwnerEvidence, judge, subsampled,
};

use crate::random::Random;

/// True if a block that was allocated at a part of the work is alive at the end.
type IsKept = Box<dyn Fn(f64, &mut Random) -> bool>;

/// Moments of samples. With a falling rate, half of them are from the first eighth of the work.
fn samples(random: &mut Random, falls: bool) -> Vec<f64> {
    let moment = |at: f64| match (falls, at < 0.5) {
        (false, _) => at,
        (true, true) => at / 0.5 * 0.12,
        (true, false) => (at - 0.5) / 0.5 * 0.88 + 0.12,
    };
    let mut moments: Vec<f64> = (0..1_500).map(|_| moment(random.unit())).collect();
    moments.sort_by(f64::total_cmp);
    moments
}

/// The judgement of one owner with about so many live samples.
fn class(random: &mut Random, wanted: f64, falls: bool, is_kept: &IsKept) -> Class {
    let all = samples(random, falls);
    let mut kept: Vec<f64> = all.iter().copied().filter(|at| is_kept(*at, random)).collect();
    let count = (wanted + random.normal() * wanted.sqrt()).round().max(0.0) as usize;
    while kept.len() > count {
        let place = random.number(0, kept.len() - 1);
        kept.remove(place);
    }
    let owner = OwnerEvidence {
        kind: "global".to_owned(),
        sizes: vec![8 << 20],
        live: kept.len() as u64,
        births: kept,
        ..OwnerEvidence::default()
    };
    let evidence = Evidence {
        work: vec![1.0],
        alive: vec![10 << 20],
        end: 1.0,
        sampled: subsampled(&all, MAX_RANKS),
        before: all.len() as u64,
        owners: vec![owner],
        ..Evidence::default()
    };
    judge(&evidence)[0].class
}

fn counts(wanted: f64, falls: bool, kind: &dyn Fn(&mut Random) -> IsKept) -> (usize, usize) {
    let mut random = Random(3);
    let classes: Vec<Class> = (0..200)
        .map(|_| {
            let is_kept = kind(&mut random);
            class(&mut random, wanted, falls, &is_kept)
        })
        .collect();
    let of = |wanted: fn(Class) -> bool| classes.iter().filter(|class| wanted(**class)).count();
    (of(Class::is_suspect), of(|class| class == Class::Undecided))
}

#[test]
fn an_even_leak_is_found_with_enough_samples_and_never_cleared() {
    for falls in [false, true] {
        for (wanted, least) in [(4.0, 0), (8.0, 30), (16.0, 130), (40.0, 190)] {
            let (grows, undecided) = counts(wanted, falls, &|_| Box::new(|_, _| true));
            assert!(grows >= least, "{wanted}: {grows}");
            assert!(grows + undecided >= 190, "{wanted}: {grows} {undecided}");
        }
    }
}

#[test]
fn warm_ups_caches_and_stages_are_no_leaks() {
    type Make = fn(&mut Random) -> IsKept;
    let kinds: [(&str, Make); 5] = [
        ("cache", |r| {
            let since = 1.0 - r.between(0.02, 0.6);
            Box::new(move |at, _| at > since)
        }),
        ("warm-up", |r| {
            let filled = r.between(0.02, 0.6);
            Box::new(move |at, _| at < filled)
        }),
        ("cache that forgets by chance", |r| {
            let kept = r.between(0.02, 0.2);
            Box::new(move |at, r| r.unit() < (-(1.0 - at) / kept).exp())
        }),
        ("saturating", |r| {
            let rate = r.between(4.0, 15.0);
            Box::new(move |at, r| r.unit() < (-rate * at).exp())
        }),
        ("stage", |r| {
            let from = r.between(0.1, 0.7);
            let to = from + r.between(0.05, 0.25);
            Box::new(move |at, _| from < at && at < to)
        }),
    ];
    for falls in [false, true] {
        for wanted in [4.0, 8.0, 16.0, 40.0] {
            for (name, kind) in kinds {
                let (grows, _) = counts(wanted, falls, &kind);
                assert!(grows <= 2, "{name}, {wanted}: {grows}");
            }
        }
    }
}
