//! Call paths in the order of time, against a list of what each column holds.

use memtrail_profile::calls::{Clock, Columns, Entity, TimeOrder, time_order};
use memtrail_profile::filter::Filter;
use memtrail_test_support::traces::{Named, Spec, profile};
use proptest::prelude::*;

use crate::calls::paths::{Made, find, traces};

const ALL: Columns = Columns { whole: 1000, near: None, fine: 0, boxes: 100_000 };

fn ordered(made: &Made, focus: &[Entity], clock: Clock, columns: Columns) -> TimeOrder {
    let filter = Filter::default().resolve(&made.profile).unwrap();
    time_order(&made.profile, &filter, made.view(), focus, clock, columns)
}

/// The keys of the boxes that stand over each other at a place, the root first.
fn at(made: &Made, order: &TimeOrder, place: u64) -> Vec<(String, u64)> {
    let over = |&at: &usize| {
        let (from, to) = order.span[at];
        from <= place && place < to
    };
    let boxes = (0..order.entity.len()).filter(over);
    boxes.map(|at| (made.key(order.entity[at]), order.weight[at])).collect()
}

proptest! {
    /// A column a unit: each shows what was allocated then, or else what it did before.
    #[test]
    fn columns_of_a_unit_show_each_sample(
        (frames, specs) in traces(),
        times in prop::collection::vec(0..30_u64, 40),
        element in any::<prop::sample::Index>(),
        clock in prop::sample::select(vec![Clock::Time, Clock::Allocation]),
    ) {
        let mut times = times;
        times.sort_unstable();
        let specs: Vec<Spec> = specs
            .into_iter()
            .zip(&times)
            .map(|(spec, &time)| Spec { allocated: time, collected: None, ..spec })
            .collect();
        let made = Made::new(&frames, &specs, &[]);
        let id = Entity(element.index(made.entities.len()) as u32);
        prop_assume!(id != Entity::ALLOCATIONS);
        let key = made.key(id);
        let order = ordered(&made, &[id], clock, Columns { whole: 1 << 40, ..ALL });
        // Rows are those of the blocks, in the order of time; so are the specs.
        let mut expected: Vec<(u64, u64, &[String])> = Vec::new();
        let mut sum = 0;
        for ((row, block), _) in made.profile.blocks.rows().zip(&made.blocks).zip(&specs) {
            let Some(from) = find(&block.path, std::slice::from_ref(&key)) else { continue };
            let unit = match clock {
                Clock::Time => made.profile.blocks.allocated(row).0,
                Clock::Allocation => sum,
            };
            expected.push((unit, block.samples, &block.path[from..]));
            sum += block.samples;
        }
        prop_assert_eq!(order.samples, sum);
        let units: Vec<u64> = match clock {
            Clock::Time => (0..order.extent).collect(),
            // Where paths begin and end.
            Clock::Allocation => expected.iter().flat_map(|e| [e.0, e.0 + e.1 - 1]).collect(),
        };
        for unit in units {
            let here: Vec<&(u64, u64, &[String])> = match clock {
                Clock::Allocation => expected.iter().filter(|e| e.0 <= unit && unit < e.0 + e.1).collect(),
                Clock::Time => {
                    let last = expected.iter().filter(|e| e.0 <= unit).map(|e| e.0).max();
                    expected.iter().filter(|e| Some(e.0) == last).collect()
                }
            };
            let shown = at(&made, &order, unit);
            if here.is_empty() {
                prop_assert_eq!(shown.len(), 1);
                continue;
            }
            let keys: Vec<&str> = shown.iter().map(|(key, _)| key.as_str()).collect();
            let weight = |path: &[&str]| -> u64 {
                let with = here.iter().filter(|e| e.2.iter().map(String::as_str).take(path.len()).eq(path.iter().copied()));
                with.map(|e| e.1).sum()
            };
            // No other path is heavier at its first difference, and none ends with more.
            for depth in 1..keys.len() {
                let mine = weight(&keys[..=depth]);
                prop_assert!(mine > 0);
                for e in &here {
                    if e.2.len() > depth && e.2[..depth].iter().map(String::as_str).eq(keys[..depth].iter().copied()) {
                        let other: Vec<&str> = e.2[..=depth].iter().map(String::as_str).collect();
                        prop_assert!(weight(&other) <= mine);
                    }
                }
            }
        }
    }

    #[test]
    fn boxes_are_inside_their_parents_and_beside_each_other(
        (frames, specs) in traces(),
        whole in 1..40_u64,
        near in prop::option::of((0..100_u64, 0..100_u64)),
        boxes in 1..60_usize,
    ) {
        let made = Made::new(&frames, &specs, &[]);
        for clock in [Clock::Time, Clock::Allocation] {
            let order = ordered(&made, &[], clock, Columns { whole, near, fine: 7, boxes });
            prop_assert!(order.entity.len() <= boxes);
            for at in 1..order.entity.len() {
                let parent = order.parent[at] as usize;
                prop_assert!(parent < at);
                let ((from, to), (left, right)) = (order.span[at], order.span[parent]);
                prop_assert!(left <= from && from < to && to <= right);
                prop_assert!(order.weight[at] <= order.weight[parent]);
                let before = (parent + 1..at).rev().find(|&other| order.parent[other] as usize == parent);
                prop_assert!(before.is_none_or(|before| order.span[before].1 <= from));
            }
        }
    }
}

#[test]
fn samples_that_agree_are_one_box() {
    let sites = |code: u64| -> Vec<Named> {
        vec![[("M.a", "m.ml", 1), ("M.b", "m.ml", 2), ("M.c", "m.ml", 3)][code as usize - 1]]
    };
    let specs =
        [Spec::at(1, &[1, 2]), Spec::at(3, &[1, 2]), Spec::at(5, &[1, 3]), Spec::at(9, &[1, 2])];
    let made = Made::read(profile(1.0, &specs, sites));
    let boxes = |order: &TimeOrder| -> Vec<(String, (u64, u64))> {
        order.entity.iter().map(|&entity| made.key(entity)).zip(order.span.clone()).collect()
    };
    let time = ordered(&made, &[], Clock::Time, ALL);
    let shown = boxes(&time);
    let shown: Vec<(&str, (u64, u64))> =
        shown.iter().map(|(key, span)| (key.as_str(), *span)).collect();
    assert_eq!(
        shown,
        [
            ("<toplevel>", (0, 10)),
            ("M.a", (1, 10)),
            ("M.b", (1, 5)),
            ("M.b@m.ml:2:0-1", (1, 5)),
            ("M.c", (5, 9)),
            ("M.c@m.ml:3:0-1", (5, 9)),
            ("M.b", (9, 10)),
            ("M.b@m.ml:2:0-1", (9, 10)),
        ]
    );
}
