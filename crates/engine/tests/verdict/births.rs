//! One snapshot, and the birth dates of a few live samples.

use memtrail_engine::leaks::verdict::{
    Class, Evidence, Life, MAX_DATES, MAX_RANKS, OwnerEvidence, Unclear, judge, subsampled,
};

use crate::verdict::random::Random;

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

/// A choice of an owner's blocks.
struct Kind {
    is_kept: IsKept,
    /// True if the owner had the others, too, and they were freed.
    frees: bool,
}

/// The judgement of one owner with about so many live samples.
fn class(random: &mut Random, wanted: f64, falls: bool, kind: &Kind) -> Class {
    let Kind { is_kept, frees } = kind;
    let all = samples(random, falls);
    let (mut kept, others): (Vec<f64>, Vec<f64>) = all.iter().partition(|at| is_kept(**at, random));
    let owned = kept.len();
    let count = (wanted + random.normal() * wanted.sqrt()).round().max(0.0) as usize;
    while kept.len() > count {
        let place = random.number(0, kept.len() - 1);
        kept.remove(place);
    }
    let owner = OwnerEvidence {
        kind: "global".to_owned(),
        sizes: vec![8 << 20],
        live: kept.len() as u64,
        freed: if *frees {
            lives(&others, kept.len() as f64 / owned.max(1) as f64)
        } else {
            vec![]
        },
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

/// This part of the blocks, each of which lived for as long as the cache is old.
fn lives(born: &[f64], part: f64) -> Vec<Life> {
    let sampled = subsampled(born, ((born.len() as f64 * part) as usize).max(2));
    let oldest = born.iter().copied().fold(0.0, f64::max);
    let life = |born: f64| Life { born, died: (born + 1.0 - oldest).min(1.0), bytes: 1000.0 };
    sampled.into_iter().map(life).collect()
}

fn counts(wanted: f64, falls: bool, kind: &dyn Fn(&mut Random) -> Kind) -> (usize, usize) {
    let mut random = Random(3);
    let classes: Vec<Class> = (0..200)
        .map(|_| {
            let kind = kind(&mut random);
            class(&mut random, wanted, falls, &kind)
        })
        .collect();
    let of = |wanted: fn(Class) -> bool| classes.iter().filter(|class| wanted(**class)).count();
    (of(Class::is_suspect), of(|class| class == Class::Undecided))
}

#[test]
fn an_even_leak_is_found_with_enough_samples_and_never_cleared() {
    for falls in [false, true] {
        for (wanted, least) in [(4.0, 0), (8.0, 30), (16.0, 130), (40.0, 190)] {
            let (grows, undecided) =
                counts(wanted, falls, &|_| Kind { is_kept: Box::new(|_, _| true), frees: false });
            assert!(grows >= least, "{wanted}: {grows}");
            assert!(grows + undecided >= 190, "{wanted}: {grows} {undecided}");
        }
    }
}

/// A feature that leaks from then on. A cache that is as old has freed its earlier contents. A stage of a task was a suspect.
/// Other call sites allocate before it, or too few samples show that the same ones do. Or all stages call one library, and each
/// reads the data of the last one.
#[test]
fn a_leak_that_began_within_the_first_half_is_found() {
    let cases = [
        (false, Some(0.8), false, 0.15, 180, 200),
        (true, Some(0.8), false, 0.33, 0, 2),
        (false, Some(0.1), false, 0.33, 0, 0),
        (false, None, false, 0.33, 0, 30),
        (false, Some(0.8), true, 0.33, 0, 30),
    ];
    for (has_freed, same, is_read, from, least, most) in cases {
        let mut random = Random(5);
        let mut grows = 0;
        for _ in 0..200 {
            let since = random.between(from, 0.45);
            let all = samples(&mut random, false);
            let (before, kept): (Vec<f64>, Vec<f64>) = all.iter().partition(|at| **at < since);
            let life = |born: &f64| Life { born: *born, died: born + since / 2.0, bytes: 1000.0 };
            let owner = OwnerEvidence {
                kind: "global".to_owned(),
                sizes: vec![1 << 20, 8 << 20],
                live: kept.len() as u64,
                births: subsampled(&kept, MAX_DATES),
                freed: if has_freed { before.iter().map(life).collect() } else { Vec::new() },
                ..OwnerEvidence::default()
            };
            let stage = OwnerEvidence {
                kind: "global".to_owned(),
                sizes: vec![1 << 20, 1 << 20],
                live: before.len() as u64,
                births: subsampled(&before, MAX_DATES),
                ..OwnerEvidence::default()
            };
            let evidence = Evidence {
                work: vec![since + 0.01, 1.0],
                alive: vec![2 << 20, 10 << 20],
                end: 1.0,
                sampled: subsampled(&all, MAX_RANKS),
                before: all.len() as u64,
                owners: if is_read { vec![owner, stage] } else { vec![owner] },
                same_sites: vec![same; 9],
                ..Evidence::default()
            };
            grows += usize::from(judge(&evidence)[0].class.is_suspect());
        }
        assert!((least..=most).contains(&grows), "{has_freed} {same:?} {is_read}: {grows}");
    }
}

#[test]
fn warm_ups_caches_and_stages_are_no_leaks() {
    type Make = fn(&mut Random) -> IsKept;
    let kinds: [(&str, bool, Make); 5] = [
        ("cache", true, |r| {
            let since = 1.0 - r.between(0.02, 0.6);
            Box::new(move |at, _| at > since)
        }),
        ("warm-up", false, |r| {
            let filled = r.between(0.02, 0.6);
            Box::new(move |at, _| at < filled)
        }),
        ("cache that forgets by chance", true, |r| {
            let kept = r.between(0.02, 0.2);
            Box::new(move |at, r| r.unit() < (-(1.0 - at) / kept).exp())
        }),
        ("saturating", false, |r| {
            let rate = r.between(4.0, 15.0);
            Box::new(move |at, r| r.unit() < (-rate * at).exp())
        }),
        ("stage", false, |r| {
            let from = r.between(0.1, 0.7);
            let to = from + r.between(0.05, 0.25);
            Box::new(move |at, _| from < at && at < to)
        }),
    ];
    for falls in [false, true] {
        for wanted in [4.0, 8.0, 16.0, 40.0] {
            for (name, frees, make) in kinds {
                let kind = |random: &mut Random| Kind { is_kept: make(random), frees };
                let (grows, _) = counts(wanted, falls, &kind);
                assert!(grows <= 2, "{name}, {wanted}: {grows}");
            }
        }
    }
}

/// Part of the allocation that is by the same call sites before and after each twentieth of the work. From `since` on, other
/// call sites allocate.
fn two_phases(since: f64) -> Vec<Option<f64>> {
    let common = |at: f64| if at < since { (since - at) / (1.0 - at) } else { (at - since) / at };
    (1..20).map(|step| Some(common(f64::from(step) / 20.0))).collect()
}

/// A server that had loaded its data passed: what leaked since was "of one stage of a task". The last stage of a compiler
/// looks the same, but ends by itself.
#[test]
fn what_grows_since_a_server_has_loaded_its_data_is_found() {
    let judged = |since: f64, is_stopped: bool, same_sites: Vec<Option<f64>>| {
        let mut random = Random(7);
        let all = samples(&mut random, false);
        let (before, since_then): (Vec<f64>, Vec<f64>) = all.iter().partition(|at| **at < since);
        // Most of what the same call sites allocate dies at once.
        let (kept, dead): (Vec<f64>, Vec<f64>) =
            since_then.iter().partition(|_| random.unit() < 0.2);
        let life = |born: &f64| Life { born: *born, died: born + 0.001, bytes: 1000.0 };
        let owner = |births: &[f64], freed: Vec<Life>| OwnerEvidence {
            kind: "global".to_owned(),
            sizes: vec![8 << 20],
            live: births.len() as u64,
            births: subsampled(births, MAX_DATES),
            freed: subsampled(&freed, MAX_DATES),
            ..OwnerEvidence::default()
        };
        let freed = dead.iter().map(life).collect();
        let evidence = Evidence {
            work: vec![1.0],
            alive: vec![20 << 20],
            end: 1.0,
            sampled: subsampled(&all, MAX_RANKS),
            before: all.len() as u64,
            same_sites,
            is_stopped,
            owners: vec![owner(&kept, freed), owner(&before, Vec::new())],
            ..Evidence::default()
        };
        let mut judged = judge(&evidence);
        judged.retain(|one| one.series.name == 0);
        judged.remove(0)
    };
    for since in [0.05, 0.15, 0.2, 0.4, 0.48] {
        let one = judged(since, true, two_phases(since));
        assert_eq!(one.class, Class::Grows, "{since}: {one:?}");
        let ended = judged(since, false, two_phases(since));
        let is_early = since <= 0.15;
        assert_eq!(ended.class.is_suspect(), is_early, "{since}: {ended:?}");
        let is_last_phase = ended.class == Class::Undecided && ended.unclear == Unclear::LastPhase;
        assert_eq!(is_last_phase, since > 0.3 && since < 0.5, "{since}: {ended:?}");
    }
    // Too late for birth dates alone, and no stage of a task.
    assert_eq!(judged(0.6, true, two_phases(0.6)).class, Class::Undecided);
    // Other call sites again and again.
    for since in [0.3, 0.5] {
        let one = judged(since, true, vec![Some(0.1); 19]);
        assert_eq!(one.class, Class::Stage, "{since}: {one:?}");
    }
}

/// A pool is filled at an even pace, and the program then works with it: it was a leak "until the program began to wait".
#[test]
fn a_program_that_works_on_without_allocating_has_filled_its_data() {
    let births: Vec<f64> = (1..=400).map(|at| f64::from(at) / 400.0).collect();
    let evidence = |worked_on| Evidence {
        work: vec![1.0],
        alive: vec![60 << 20],
        end: 1.0,
        sampled: subsampled(&births, MAX_RANKS),
        before: 400,
        worked_on,
        owners: vec![OwnerEvidence {
            kind: "global".to_owned(),
            name: "Pool.items".to_owned(),
            sizes: vec![60 << 20],
            live: 400,
            births: subsampled(&births, MAX_DATES),
            ..OwnerEvidence::default()
        }],
        ..Evidence::default()
    };
    for (worked_on, class) in
        [(None, Class::Grows), (Some(0.3), Class::Grows), (Some(4.0), Class::FilledOnce)]
    {
        assert_eq!(judge(&evidence(worked_on))[0].class, class, "{worked_on:?}");
    }
}
