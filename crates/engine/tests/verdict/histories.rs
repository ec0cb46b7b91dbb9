//! Kinds of histories: the size of an owner as a function of the work, from 0 to 1. Ten is its usual most.

use crate::verdict::random::Random;

/// A size as a function of the work.
pub(crate) type History = Box<dyn Fn(f64) -> f64>;
/// A kind, by its name.
pub(crate) type Kind = (&'static str, fn(&mut Random) -> History);

/// Histories of leaks.
pub(crate) const LEAKS: [Kind; 9] = [
    ("linear", |_| Box::new(|x| 10.0 * x)),
    ("late", |r| {
        let since = r.between(0.05, 0.5);
        Box::new(move |x| 10.0 * (x - since).max(0.0))
    }),
    ("on a base", |r| {
        let (base, filled) = (10.0 * r.between(0.0, 3.0), r.between(0.02, 0.2));
        Box::new(move |x| base * (x / filled).min(1.0) + 10.0 * x)
    }),
    ("bursts", |r| {
        let count = r.number(12, 60);
        let bursts: Vec<(f64, f64)> = (0..count).map(|_| (r.unit(), r.exponential())).collect();
        let all: f64 = bursts.iter().map(|(_, size)| size).sum();
        Box::new(move |x| {
            10.0 * bursts.iter().filter(|(at, _)| *at <= x).map(|(_, size)| size).sum::<f64>() / all
        })
    }),
    ("beside what comes and goes", |r| {
        let (part, memory) = (r.between(0.05, 0.2), r.between(0.01, 0.05));
        let noise = r.noise(memory);
        Box::new(move |x| 10.0 * x + 10.0 * part * (1.0 + noise(x) * 0.5) * (x / 0.05).min(1.0))
    }),
    ("doubling", |r| {
        let first = r.between(0.001, 0.004);
        Box::new(move |x| {
            let mut size = first;
            while size < x {
                size *= 2.0;
            }
            10.0 * size
        })
    }),
    ("queue", |r| {
        let part = r.between(0.2, 0.9);
        Box::new(move |x| 10.0 * part * x)
    }),
    ("power", |r| {
        let power = r.between(0.75, 1.4);
        Box::new(move |x| 10.0 * x.powf(power))
    }),
    ("varying load", |r| {
        let (waves, part, phase) =
            (r.between(1.0, 6.0), r.between(0.2, 0.7), r.between(0.0, std::f64::consts::TAU));
        let turns = waves * std::f64::consts::TAU;
        Box::new(move |x| 10.0 * (x + part / turns * ((turns * x + phase).sin() - phase.sin())))
    }),
];

/// Histories of sound owners.
pub(crate) const SOUND: [Kind; 11] = [
    ("warm-up", |r| {
        let filled = r.between(0.02, 0.6);
        Box::new(move |x| 10.0 * (x / filled).min(1.0))
    }),
    ("warm-up with noise", |r| {
        let (filled, memory) = (r.between(0.02, 0.5), r.between(0.005, 0.2));
        let (noise, part) = (r.noise(memory), r.between(0.01, 0.15));
        Box::new(move |x| 10.0 * (x / filled).min(1.0) * part.mul_add(noise(x), 1.0).max(0.0))
    }),
    ("saturating", |r| {
        let rate = r.between(4.0, 15.0);
        Box::new(move |x| 10.0 * (1.0 - (-rate * x).exp()))
    }),
    ("sawtooth", |r| {
        let (period, phase) = (r.between(0.005, 0.25), r.unit());
        Box::new(move |x| 10.0 * (x / period + phase).fract())
    }),
    ("batches", |r| {
        let (period, base) = (r.between(0.02, 0.2), r.between(0.0, 10.0));
        Box::new(move |x| base + 10.0 * (x / period).fract())
    }),
    ("sessions", |r| {
        let (memory, part) = (r.between(0.002, 0.1), r.between(0.05, 0.4));
        let noise = r.noise(memory);
        Box::new(move |x| 10.0 * (x / 0.05).min(1.0) * part.mul_add(noise(x), 1.0).max(0.0))
    }),
    ("steps", |r| {
        let count = r.number(1, 2);
        let steps: Vec<(f64, f64)> =
            (0..count).map(|_| (r.between(0.02, 0.95), r.between(0.2, 1.0))).collect();
        Box::new(move |x| {
            10.0 * (0.2 + steps.iter().filter(|(at, _)| x >= *at).map(|(_, by)| by).sum::<f64>())
        })
    }),
    ("shrinking", |r| {
        let top = r.between(0.2, 0.8);
        Box::new(move |x| 10.0 * if x < top { x / top } else { (1.0 - x) / (1.0 - top) })
    }),
    ("report at the end", |r| {
        let since = r.between(0.85, 0.97);
        Box::new(move |x| 10.0 * (x - since).max(0.0) / (1.0 - since))
    }),
    ("bounded queue", |r| {
        let mut size = 0.0f64;
        let sizes: Vec<f64> = (0..800)
            .map(|_| {
                size = (size + if r.unit() < 0.5 { 0.12 } else { -0.12 }).clamp(0.0, 1.0);
                size
            })
            .collect();
        Box::new(move |x| 10.0 * sizes[((x * 800.0) as usize).min(799)])
    }),
    ("phases", |r| {
        let count = r.number(3, 6);
        let mut cuts: Vec<f64> = (1..count).map(|_| r.unit()).collect();
        cuts.sort_by(f64::total_cmp);
        let sizes: Vec<f64> = (0..count).map(|_| r.between(2.0, 10.0)).collect();
        Box::new(move |x| sizes[cuts.iter().filter(|cut| **cut <= x).count()])
    }),
];

/// Parts of the work at which so many snapshots are taken, at nearly even steps.
pub(crate) fn even(random: &mut Random, count: usize) -> Vec<f64> {
    let n = count as f64;
    let at = |place: usize, early: f64| (place as f64 + 1.0 - early) / n;
    (0..count)
        .map(|place| at(place, if place + 1 < count { random.between(0.0, 0.5) } else { 0.0 }))
        .collect()
}
