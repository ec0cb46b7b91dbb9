use memtrail_profile::calls::{Pattern, search};
use proptest::prelude::*;

use crate::calls::paths::{Made, find, traces};

fn check(made: &Made, pattern: &Pattern, focus: &[String]) {
    let entities: Vec<_> = focus.iter().map(|key| made.entity(key)).collect();
    let fast = search(made.view(), pattern, &entities);
    let (mut found, mut of, mut keys) = (0, 0, Vec::new());
    for block in &made.blocks {
        let mut path = block.path.clone();
        path.push("<allocations>".into());
        if focus.is_empty() || find(&path, focus).is_some() {
            of += block.samples;
            let names = block.path[1..].iter().filter(|key| pattern.matches(key));
            let names: Vec<&String> = names.collect();
            found += if names.is_empty() { 0 } else { block.samples };
            keys.extend(names.into_iter().cloned());
        }
    }
    assert_eq!((fast.cell.samples, fast.of.samples), (found, of));
    keys.sort();
    keys.dedup();
    let mut matching: Vec<String> = fast.entities.iter().map(|&e| made.key(e)).collect();
    matching.sort();
    assert_eq!(matching, keys);
}

proptest! {
    #[test]
    fn shares_are_those_of_all_blocks(
        (frames, specs) in traces(),
        which in any::<prop::sample::Index>(),
        (from, len) in (0..6_usize, 1..4_usize),
        text in prop::sample::select(vec!["f", "A.", "a.ml", "(fun)", "D.E", ":2:", "nowhere", ""]),
    ) {
        let made = Made::new(&frames, &specs, &[]);
        let patterns = [Pattern::text(text), Pattern::regex("^B\\.[fh]").unwrap()];
        for pattern in &patterns {
            check(&made, pattern, &[]);
            check(&made, pattern, &["<allocations>".into()]);
            if !made.blocks.is_empty() {
                let mut path = which.get(&made.blocks).path.clone();
                path.push("<allocations>".into());
                let from = from.min(path.len() - 1);
                check(&made, pattern, &path[from..(from + len).min(path.len())]);
            }
        }
    }
}

#[test]
fn case_matters_if_there_is_a_capital() {
    for (text, name, expected) in [
        ("map", "Stdlib.Map.add", true),
        ("Map", "Stdlib.Map.add", true),
        ("Map", "Stdlib.List.map", false),
        ("élan", "Élan.démarrer", true),
    ] {
        assert_eq!(Pattern::text(text).matches(name), expected, "{text} in {name}");
    }
}

#[test]
fn a_bad_expression_says_why() {
    assert_eq!(Pattern::regex("a(b").unwrap_err().to_string(), "unclosed group");
}
