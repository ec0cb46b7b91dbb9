//! Points of interest by their definitions, word for word, over all fragments of all paths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use memtrail_profile::calls::{SIGNIFICANCE, Suspect, hot_fragments};
use memtrail_test_support::traces::Spec;
use proptest::prelude::*;

use crate::calls::paths::{Made, deep, traces};

type Fragment = Vec<String>;
type Found = Vec<(Fragment, u64)>;

fn contains(long: &[String], short: &[String]) -> bool {
    long.windows(short.len()).any(|part| part == short)
}

/// Functions and paths.
fn slowly(made: &Made, significance: f64) -> (Found, Found) {
    let mut paths: BTreeMap<Fragment, u64> = BTreeMap::new();
    for block in &made.blocks {
        *paths.entry(block.path[1..].to_vec()).or_default() += block.samples;
    }
    let mut totals: BTreeMap<Fragment, u64> = BTreeMap::new();
    for (path, samples) in &paths {
        for from in 0..path.len() {
            for to in from + 1..=path.len() {
                *totals.entry(path[from..to].to_vec()).or_default() += samples;
            }
        }
    }
    let least = (made.total() as f64 * significance) as u64;
    totals.retain(|_, total| *total > least);
    let mut fragments: Vec<&Fragment> = totals.keys().collect();
    fragments.sort_by_key(|fragment| Reverse(fragment.len()));
    let mut heavy: Vec<&Fragment> = Vec::new();
    for fragment in &fragments {
        let longer: Vec<_> = heavy.iter().filter(|h| contains(h, fragment)).collect();
        let unexplained: u64 = paths
            .iter()
            .filter(|(path, _)| contains(path, fragment))
            .filter(|(path, _)| !longer.iter().any(|h| contains(path, h)))
            .map(|(_, samples)| samples)
            .sum();
        if unexplained > least {
            heavy.push(fragment);
        }
    }
    let within = |fragment: &[String]| -> BTreeSet<&Fragment> {
        heavy.iter().copied().filter(|h| contains(h, fragment)).collect()
    };
    let representative = |fragment: &[String]| -> &Fragment {
        let same = within(fragment);
        // The longest come first.
        fragments.iter().find(|f| contains(f, fragment) && within(f) == same).unwrap()
    };

    let mut kept: BTreeMap<&Fragment, &Fragment> = BTreeMap::new();
    for fragment in fragments.iter().filter(|fragment| fragment.len() == 1) {
        let whole = representative(fragment);
        let place = |f: &Fragment| whole.iter().position(|key| *key == f[0]);
        let innermost = kept.entry(whole).or_insert(fragment);
        if place(fragment) > place(innermost) {
            *innermost = fragment;
        }
    }
    let functions = kept.into_values();

    let with_total = |f: &Fragment| (f.clone(), totals[f]);
    let telling = |found: Found| -> Found {
        let too_many = made.total() - least;
        let is_site = |f: &Fragment| f.last().unwrap().contains('@');
        let tells = |(f, total): &(Fragment, u64)| *total < too_many || is_site(f);
        if found.iter().any(tells) { found.into_iter().filter(tells).collect() } else { found }
    };
    let paths = heavy.iter().copied().map(with_total).collect();
    (telling(functions.map(with_total).collect()), telling(paths))
}

fn spread(made: &Made, found: &[Suspect]) -> Found {
    assert!(found.is_sorted_by(|a, b| a.samples >= b.samples));
    let path = |s: &Suspect| s.path.iter().map(|&e| made.key(e)).collect();
    let mut spread: Found = found.iter().map(|s| (path(s), s.samples)).collect();
    spread.sort();
    spread
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn they_are_what_they_are_defined_to_be(
        (frames, specs) in traces(),
        significance in prop::sample::select(vec![0.0, 0.005, 0.05, 0.1, 0.2, 0.3]),
    ) {
        let made = Made::new(&frames, &specs, &[]);
        let fast = hot_fragments(made.view(), significance);
        let (mut functions, mut paths) = slowly(&made, significance);
        functions.sort();
        paths.sort();
        prop_assert_eq!(spread(&made, &fast.functions), functions);
        prop_assert_eq!(spread(&made, &fast.paths), paths);
        prop_assert_eq!(fast.significance.to_bits(), significance.to_bits());
    }
}

/// Each allocation of the chain is heavy, on a path that goes on from all before it.
#[test]
fn a_chain_of_ten_thousand_functions_has_its_points() {
    let made = deep();
    let found = hot_fragments(made.view(), SIGNIFICANCE);
    assert_eq!(found.significance.to_bits(), SIGNIFICANCE.to_bits());
    // Each allocation has its own path, all the way from the outermost function.
    assert_eq!(found.paths.len(), 167);
    assert!(
        found.paths.iter().all(|path| path.samples == 1 && made.key(path.path[0]) == "Deep.f0")
    );
    // That which all of them pass through is left out.
    assert_eq!(found.functions.len(), 2 * 167 - 2);
}

/// The site of `A.g.(fun)` weighs too little to matter and comes last in the order of nodes; it was
/// taken for an occurrence of the heavy fragment before it, which then explained the function.
#[test]
fn light_nodes_at_the_end_of_the_order_belong_to_no_fragment() {
    let spec = |stack: &[u64], samples| Spec { samples, length: 300, ..Spec::at(0, stack) };
    let blocks =
        [spec(&[1], 10), spec(&[2], 10), spec(&[1], 10), spec(&[2, 1], 10), spec(&[], 250)];
    let made = Made::new(&vec![vec![10], vec![3]], &blocks, &[]);
    let found = hot_fragments(made.view(), 0.05);
    let site = vec!["D.E.f@d.ml:1:0-1".to_owned()];
    let expected = [(vec!["A.g.(fun)".to_owned()], 20), (site, 30)];
    assert_eq!(spread(&made, &found.functions), expected);
}
