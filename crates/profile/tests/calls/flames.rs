use std::collections::BTreeMap;

use memtrail_profile::calls::{Boxes, Flame, FlameSides, Limits, flame};
use memtrail_test_support::traces::Spec;
use proptest::prelude::*;

use crate::calls::paths::{Made, deep, find, traces};

/// Boxes by the keys from the first to them.
type Slow = BTreeMap<Vec<String>, (u64, u64)>;

const EVERYTHING: Limits = Limits { cutoff: 0.0, boxes: usize::MAX };

fn spread(made: &Made, boxes: &Boxes) -> Slow {
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut spread = Slow::new();
    for at in 0..boxes.len() {
        let parent = boxes.parent[at] as usize;
        let mut path = if at == 0 { vec![] } else { paths[parent].clone() };
        assert!(at == 0 || parent < at);
        path.push(made.key(boxes.entity[at]));
        paths.push(path.clone());
        let cell = boxes.cell[at];
        assert_eq!(spread.insert(path, (cell.samples, cell.live)), None);
    }
    spread
}

/// Down and up.
fn slowly(made: &Made, focus: &[String]) -> (u64, Slow, Slow) {
    let (mut down, mut up, mut total) = (Slow::new(), Slow::new(), 0);
    down.insert(vec![focus[focus.len() - 1].clone()], (0, 0));
    up.insert(vec![focus[0].clone()], (0, 0));
    for block in &made.blocks {
        let mut path = block.path.clone();
        path.push("<allocations>".into());
        let Some(at) = find(&path, focus) else { continue };
        total += block.samples;
        let last = at + focus.len() - 1;
        // The mark at the end is no box.
        let end = (path.len() - 1).max(last + 1);
        let add = |slow: &mut Slow, path: Vec<String>| {
            let sums = slow.entry(path).or_default();
            *sums = (sums.0 + block.samples, sums.1 + block.live);
        };
        for to in last + 1..=end {
            add(&mut down, path[last..to].to_vec());
        }
        for from in 0..=at {
            add(&mut up, path[from..=at].iter().rev().cloned().collect());
        }
    }
    (total, down, up)
}

fn check_limits(whole: &Boxes, made: &Made, limits: Limits, cut: &Boxes) {
    let least = ((whole.cell[0].samples as f64 * limits.cutoff).ceil() as u64).max(1);
    let (all, some) = (spread(made, whole), spread(made, cut));
    let worth: Vec<_> =
        all.iter().filter(|(path, sums)| sums.0 >= least || path.len() == 1).collect();
    assert!(cut.len() <= limits.boxes.max(1));
    assert_eq!(some.len(), worth.len().min(limits.boxes.max(1)));
    let lightest = some.values().map(|sums| sums.0).min().unwrap_or(0);
    for (path, sums) in &worth {
        match some.get(*path) {
            Some(found) => assert_eq!(&found, sums),
            None => assert!(sums.0 <= lightest),
        }
    }
    let children = |boxes: &Boxes, of: usize| -> Vec<u64> {
        let all = 1..boxes.len();
        all.filter(|&at| boxes.parent[at] as usize == of).map(|at| boxes.cell[at].samples).collect()
    };
    assert!(cut.cell.is_sorted_by(|a, b| a.samples >= b.samples));
    for at in 0..cut.len() {
        let here = children(cut, at);
        let path = path(made, cut, at);
        let there = (0..whole.len()).find(|&w| self::path(made, whole, w) == path).unwrap();
        assert_eq!(cut.more[at], here.len() < children(whole, there).len());
    }
}

fn path(made: &Made, boxes: &Boxes, at: usize) -> Vec<String> {
    let mut path = vec![made.key(boxes.entity[at])];
    let mut at = at;
    while at != 0 {
        at = boxes.parent[at] as usize;
        path.push(made.key(boxes.entity[at]));
    }
    path
}

fn check(made: &Made, focus: &[String], limits: Limits) -> Flame {
    let entities: Vec<_> = focus.iter().map(|key| made.entity(key)).collect();
    let fast = flame(made.view(), &entities, FlameSides::Both, EVERYTHING);
    let (total, down, up) = slowly(made, focus);
    assert_eq!(fast.total.samples, made.total());
    assert_eq!(fast.focus.samples, total);
    assert_eq!(spread(made, &fast.down), down, "down from {focus:?}");
    assert_eq!(spread(made, &fast.up), up, "up from {focus:?}");
    let cut = flame(made.view(), &entities, FlameSides::Both, limits);
    check_limits(&fast.down, made, limits, &cut.down);
    check_limits(&fast.up, made, limits, &cut.up);
    fast
}

proptest! {
    #[test]
    fn boxes_are_those_of_all_blocks(
        (frames, specs) in traces(),
        which in any::<prop::sample::Index>(),
        (from, len) in (0..6_usize, 1..4_usize),
        (cutoff, boxes) in (0.0..0.4, 1..40_usize),
    ) {
        let made = Made::new(&frames, &specs, &[]);
        let limits = Limits { cutoff, boxes };
        check(&made, &["<toplevel>".to_owned()], limits);
        check(&made, &["<allocations>".to_owned()], limits);
        if !made.blocks.is_empty() {
            let mut path = which.get(&made.blocks).path.clone();
            path.push("<allocations>".into());
            let from = from.min(path.len() - 1);
            let to = (from + len).min(path.len());
            let fast = check(&made, &path[from..to], limits);
            prop_assert!(fast.focus.samples > 0);
        }
    }
}

#[test]
fn a_focus_that_does_not_occur_is_empty() {
    let made = Made::new(&vec![vec![0], vec![4]], &[Spec::at(0, &[1, 2])], &[]);
    let fast = check(&made, &["B.f".to_owned(), "A.f".to_owned()], Limits::default());
    assert_eq!((fast.focus.samples, fast.down.len(), fast.up.len()), (0, 1, 1));
}

#[test]
fn a_chain_of_ten_thousand_functions_has_a_flame() {
    let made = deep();
    let limits = Limits { cutoff: 0.0, boxes: 20_000 };
    let down = flame(made.view(), &[], FlameSides::Callees, limits).down;
    assert_eq!(down.len(), made.tree.len());
    let focus = [made.entity("<allocations>")];
    let up = flame(made.view(), &focus, FlameSides::Callers, limits).up;
    // From each of the sites to the toplevel, and what these have in common.
    assert!(up.len() > 9_982);
}
