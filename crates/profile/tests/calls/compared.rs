use std::collections::{BTreeMap, BTreeSet};

use memtrail_profile::calls::{
    FlameSides, Limits, Side, Status, compare_flame, compare_table, flame, table,
};
use memtrail_profile::estimate::Estimate;
use memtrail_profile::sites::By;
use proptest::prelude::*;

use crate::calls::paths::{Made, traces};

fn side(made: &Made, scale: f64) -> Side<'_> {
    Side { view: made.view(), estimator: &made.profile.estimator, scale }
}

/// Samples by the keys from the toplevel on.
fn boxes(made: &Made) -> BTreeMap<Vec<String>, u64> {
    let limits = Limits { cutoff: 0.0, boxes: usize::MAX };
    let down = flame(made.view(), &[], FlameSides::Callees, limits).down;
    let mut paths: Vec<Vec<String>> = Vec::new();
    for at in 0..down.len() {
        let mut path = if at == 0 { vec![] } else { paths[down.parent[at] as usize].clone() };
        path.push(made.key(down.entity[at]));
        paths.push(path);
    }
    paths.into_iter().zip(down.cell.iter().map(|cell| cell.samples)).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #[test]
    fn both_sides_are_what_they_are_alone(
        (frames, specs) in traces(),
        (other_frames, other_specs) in traces(),
        scale in prop::sample::select(vec![1.0, 0.125]),
    ) {
        let (a, b) =
            (Made::new(&frames, &specs, &[]), Made::new(&other_frames, &other_specs, &[]));
        let (first, second) = (side(&a, 1.0), side(&b, scale));
        for by in [By::Function, By::Site, By::Module, By::File] {
            let alone = |made: &Made, scale: f64| -> BTreeMap<String, (f64, f64, f64)> {
                let bytes = |samples: u64| made.profile.estimator.bytes_of(samples) * scale;
                let lines = table(made.view(), by);
                let sums = |line: &memtrail_profile::calls::Line| {
                    (bytes(line.total.samples), bytes(line.own.samples), line.total.blocks * scale)
                };
                let key = |label| made.entities.label_key(label).to_owned();
                lines.iter().map(|line| (key(line.label), sums(line))).collect()
            };
            let (before, after) = (alone(&a, 1.0), alone(&b, scale));
            let mut keys: BTreeSet<String> = before.keys().cloned().collect();
            keys.extend(after.keys().cloned());
            let changes = compare_table(first, second, by);
            let mut paired = 0;
            for change in changes.iter().copied() {
                let of_a = change.first.map(|label| a.entities.label_key(label));
                let of_b = change.second.map(|label| b.entities.label_key(label));
                prop_assert!(of_a.is_some() || of_b.is_some());
                if let (Some(old), Some(new)) = (of_a, of_b) && old != new {
                    // Renamed or moved: each key is on one side alone.
                    prop_assert!(!after.contains_key(old) && !before.contains_key(new));
                    paired += 1;
                } else {
                    let key = of_a.or(of_b).unwrap();
                    prop_assert_eq!(of_a.is_some(), before.contains_key(key));
                    prop_assert_eq!(of_b.is_some(), after.contains_key(key));
                }
                let was = of_a.and_then(|key| before.get(key)).copied().unwrap_or_default();
                let is = of_b.and_then(|key| after.get(key)).copied().unwrap_or_default();
                prop_assert!(near(change.before.value, was.0) && near(change.after.value, is.0));
                prop_assert!(near(change.own_before.value, was.1));
                prop_assert!(near(change.own_after.value, is.1));
                prop_assert!(near(change.blocks_before, was.2));
                prop_assert!(near(change.blocks_after, is.2));
                prop_assert_eq!(change.status, Status::of(change.before, change.after));
            }
            prop_assert_eq!(changes.len() + paired, keys.len());
        }

        let (before, after) = (boxes(&a), boxes(&b));
        let mut keys: BTreeSet<Vec<String>> = before.keys().cloned().collect();
        keys.extend(after.keys().cloned());
        let limits = Limits { cutoff: 0.0, boxes: usize::MAX };
        let union = compare_flame(first, second, &[], limits);
        prop_assert_eq!(union.parent.len(), keys.len());
        let mut paths: Vec<Vec<String>> = Vec::new();
        for at in 0..union.parent.len() {
            let parent = union.parent[at] as usize;
            let mut path = if at == 0 { vec![] } else { paths[parent].clone() };
            path.push(union.names[union.name[at] as usize].clone());
            prop_assert!(keys.remove(&path));
            let bytes = |made: &Made, samples: Option<&u64>, scale: f64| {
                made.profile.estimator.bytes_of(samples.copied().unwrap_or(0)) * scale
            };
            prop_assert!(near(union.before[at], bytes(&a, before.get(&path), 1.0)));
            prop_assert!(near(union.after[at], bytes(&b, after.get(&path), scale)));
            paths.push(path);
        }
        let few = compare_flame(first, second, &[], Limits { cutoff: 0.1, boxes: 9 });
        prop_assert!(few.parent.len() <= 9);
        let whole = few.before[0].max(few.after[0]);
        for at in 1..few.parent.len() {
            prop_assert!(few.before[at].max(few.after[at]) >= whole * 0.1);
        }
    }
}

#[test]
fn only_what_is_more_than_chance_is_a_change() {
    let of = |value: f64, stderr: f64| Estimate { value, stderr };
    for (before, after, expected) in [
        (of(100.0, 10.0), of(100.0, 10.0), Status::Same),
        (of(100.0, 10.0), of(142.0, 10.0), Status::Same),
        (of(100.0, 10.0), of(143.0, 10.0), Status::Grown),
        (of(143.0, 10.0), of(100.0, 10.0), Status::Shrunk),
        (of(0.0, 0.0), of(25.0, 10.0), Status::Same),
        (of(0.0, 0.0), of(31.0, 10.0), Status::New),
        (of(31.0, 10.0), of(0.0, 0.0), Status::Gone),
        (of(0.0, 0.0), of(0.0, 0.0), Status::Same),
        (of(1.0, 0.0), of(1.0 + 1e-12, 0.0), Status::Same),
    ] {
        assert_eq!(Status::of(before, after), expected, "{before:?} {after:?}");
    }
}
