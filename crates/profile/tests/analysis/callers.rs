//! Callers that matter: the walk over the tree of backtraces against one over plain lists.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_profile::Profile;
use memtrail_profile::callers::{Caller, Limits, callers};
use memtrail_profile::sites::{By, Key, Places};
use memtrail_test_support::traces::{Named, Spec, profile};
use memtrail_trace::{FunctionId, Locations, StackId};
use proptest::prelude::*;

const FUNCTIONS: [&str; 6] = ["A.a", "A.b", "B.a", "B.b", "C.a", "C.b"];

/// Code 10·f + l is a call in function f at line l + 1. From 60 on there are two functions, one
/// inlined in the other; at 99 there is no debug information.
fn sites(code: u64) -> Vec<Named> {
    let site =
        |function: u64, line: u64| (FUNCTIONS[function as usize % 6], "x.ml", line as u32 + 1);
    match code {
        99 => vec![],
        60.. => vec![site(code, 3), site(code / 2, 4)],
        _ => vec![site(code / 10, code % 10)],
    }
}

/// What a test can compare: samples, and functions with their lines.
#[derive(Debug, PartialEq)]
struct Plain {
    samples: u64,
    chain: Vec<(String, u32, bool, bool)>,
    branches: Vec<Plain>,
}

fn plain(locations: &Locations, caller: &Caller) -> Plain {
    Plain {
        samples: caller.samples,
        chain: caller
            .chain
            .iter()
            .map(|step| {
                let name = locations.functions().get(step.function);
                let name = String::from_utf8_lossy(name).into_owned();
                (name, step.line, step.lines_differ, step.recursive)
            })
            .collect(),
        branches: caller.branches.iter().map(|branch| plain(locations, branch)).collect(),
    }
}

/// The oracle: each block's way outwards as a list, walked anew for every question.
struct Slow {
    /// Innermost first, without the place: (function, line, samples of the block).
    ways: Vec<(Vec<(FunctionId, u32)>, u64)>,
    limits: Limits,
    least: u64,
}

impl Slow {
    /// The next function of a way after those that are on it already, and its line. Notes the
    /// functions that were met again before it.
    fn after(
        way: &[(FunctionId, u32)],
        seen: &[FunctionId],
        again: &mut Vec<FunctionId>,
    ) -> Option<(FunctionId, u32)> {
        let mut rest = way.iter();
        // Walk to the first occurrence of each function on the way, in turn.
        let mut met: Vec<FunctionId> = Vec::new();
        loop {
            let &(function, line) = rest.next()?;
            if met.contains(&function) || (!seen.is_empty() && seen[0] == function) {
                if met.len() + 1 == seen.len() {
                    again.push(function);
                }
                continue;
            }
            if met.len() + 1 < seen.len() {
                if seen[met.len() + 1] != function {
                    return None;
                }
                met.push(function);
            } else {
                return Some((function, line));
            }
        }
    }

    /// `seen[0]` is the place's function, or one that is nowhere.
    fn divide(
        &self,
        seen: &[FunctionId],
        again: &mut Vec<FunctionId>,
    ) -> Vec<(FunctionId, u64, HashMap<u32, u64>)> {
        let mut parts: HashMap<FunctionId, (u64, HashMap<u32, u64>)> = HashMap::new();
        for (way, samples) in &self.ways {
            if let Some((function, line)) = Self::after(way, seen, again) {
                let part = parts.entry(function).or_default();
                part.0 += samples;
                *part.1.entry(line).or_default() += samples;
            }
        }
        let mut parts: Vec<_> = parts
            .into_iter()
            .map(|(function, (samples, lines))| (function, samples, lines))
            .collect();
        parts.sort_by_key(|&(function, samples, _)| (Reverse(samples), function));
        parts
    }

    fn branches(
        &self,
        seen: &[FunctionId],
        parts: Vec<(FunctionId, u64, HashMap<u32, u64>)>,
        divided: usize,
        names: &Locations,
        again: &mut Vec<FunctionId>,
    ) -> Vec<Plain> {
        let mut branches = Vec::new();
        for first in parts.into_iter().take(self.limits.branches) {
            let samples = first.1;
            if samples < self.least {
                break;
            }
            let go_on = ((samples as f64 * self.limits.dominant).ceil() as u64).max(self.least);
            let (mut seen, mut chain, mut next) = (seen.to_vec(), Vec::new(), first);
            let rest = loop {
                let (&line, _) = next
                    .2
                    .iter()
                    .max_by_key(|&(&line, &samples)| (samples, Reverse(line)))
                    .unwrap();
                chain.push((next.0, line, next.2.len() > 1));
                seen.push(next.0);
                let mut parts = self.divide(&seen, again);
                if parts.first().is_some_and(|part| part.1 >= go_on) {
                    next = parts.swap_remove(0);
                } else {
                    break parts;
                }
            };
            let inner = if divided + 1 < self.limits.divisions {
                self.branches(&seen, rest, divided + 1, names, again)
            } else {
                vec![]
            };
            let chain = chain
                .into_iter()
                .map(|(function, line, lines_differ)| {
                    let recursive = again.contains(&function);
                    again.retain(|&met| met != function);
                    let name = String::from_utf8_lossy(names.functions().get(function));
                    (name.into_owned(), line, lines_differ, recursive)
                })
                .collect();
            branches.push(Plain { samples, chain, branches: inner });
        }
        branches
    }
}

/// The sites of a backtrace, innermost first.
fn way(profile: &Profile, stack: StackId) -> Vec<(FunctionId, u32)> {
    profile
        .stacks
        .path(stack)
        .flat_map(|frame| profile.locations.at(frame).iter().rev())
        .map(|site| (site.function, site.line))
        .collect()
}

fn limits() -> impl Strategy<Value = Limits> {
    (0..5_u32, 5..11_u32, 1..4_u64, 1..4_usize, 1..4_usize).prop_map(
        |(share, dominant, samples, branches, divisions)| Limits {
            share: f64::from(share) / 10.0,
            dominant: f64::from(dominant) / 10.0,
            samples,
            branches,
            divisions,
        },
    )
}

fn code() -> impl Strategy<Value = u64> {
    prop_oneof![(0..6_u64, 1..3_u64).prop_map(|(f, l)| 10 * f + l), 60..66_u64, Just(99)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_tree_and_the_lists_agree(
        stacks in prop::collection::vec((prop::collection::vec(code(), 1..9), 1..5_u64), 1..25),
        limits in limits(),
    ) {
        let blocks: Vec<Spec> = stacks
            .iter()
            .map(|(stack, samples)| Spec { samples: *samples, length: 9, ..Spec::at(1, stack) })
            .collect();
        let profile = profile(0.5, &blocks, sites);
        let places = Places::new(&profile.locations, By::Function);
        for &key in places.keys() {
            let Key::Function(function) = key else { continue };
            let mine: Vec<(StackId, u64)> = profile
                .blocks
                .rows()
                .map(|row| (profile.blocks.stack(row), profile.blocks.samples(row)))
                .filter(|&(stack, _)| places.keys()[places.of_stack(&profile, stack)] == key)
                .collect();
            let fast = callers(&profile.stacks, &places, &profile.locations, key, &mine, limits);
            let total: u64 = mine.iter().map(|&(_, samples)| samples).sum();
            let slow = Slow {
                ways: mine.iter().map(|&(stack, samples)| (way(&profile, stack), samples)).collect(),
                limits,
                least: ((total as f64 * limits.share).ceil() as u64).max(limits.samples),
            };
            let mut again = vec![];
            let parts = slow.divide(&[function], &mut again);
            let mut again = vec![];
            let slow = slow.branches(&[function], parts, 0, &profile.locations, &mut again);
            let fast: Vec<Plain> = fast.iter().map(|c| plain(&profile.locations, c)).collect();
            prop_assert_eq!(fast, slow);
        }
    }
}

/// A chain as `function:line` words, its branches in brackets.
fn shown(locations: &Locations, callers: &[Caller]) -> String {
    let one = |caller: &Caller| {
        let Plain { samples, chain, .. } = plain(locations, caller);
        let chain: Vec<String> = chain
            .iter()
            .map(|(name, line, differ, recursive)| {
                let (plus, again) =
                    (if *differ { "+" } else { "" }, if *recursive { "↻" } else { "" });
                format!("{name}:{line}{plus}{again}")
            })
            .collect();
        let branches = match caller.branches.as_slice() {
            [] => String::new(),
            branches => format!(" ({})", shown(locations, branches)),
        };
        format!("{samples} {}{branches}", chain.join(" "))
    };
    callers.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn show(by: By, stacks: &[(&[u64], u64)]) -> String {
    let blocks: Vec<Spec> = stacks
        .iter()
        .map(|&(stack, samples)| Spec { samples, length: 99, ..Spec::at(1, stack) })
        .collect();
    let profile = profile(0.5, &blocks, sites);
    let places = Places::new(&profile.locations, by);
    let rows = profile.blocks.rows();
    let mine: Vec<(StackId, u64)> =
        rows.map(|row| (profile.blocks.stack(row), profile.blocks.samples(row))).collect();
    let key = places.keys()[places.of_stack(&profile, mine[0].0)];
    let limits = Limits { samples: 1, ..Limits::default() };
    let found = callers(&profile.stacks, &places, &profile.locations, key, &mine, limits);
    shown(&profile.locations, &found)
}

#[test]
fn single_callers_form_a_chain_that_ends_where_the_way_divides() {
    let stacks: [(&[u64], u64); 3] =
        [(&[1, 11, 31, 41], 60), (&[21, 11, 31, 41], 39), (&[51, 31, 41], 1)];
    assert_eq!(show(By::Site, &stacks), "100 B.b:2 A.b:2 (60 A.a:2, 39 B.a:2)");
}

#[test]
fn recursion_folds_up_whatever_its_depth() {
    let stacks: [(&[u64], u64); 3] =
        [(&[1, 11, 41], 10), (&[1, 11, 11, 12, 41], 10), (&[1, 11, 21, 11, 21, 11, 41], 1)];
    assert_eq!(show(By::Site, &stacks), "21 A.b:2+↻ A.a:2");
}

#[test]
fn callers_of_a_module_start_outside_it() {
    let stacks: [(&[u64], u64); 2] = [(&[21, 1, 11, 1], 5), (&[21, 11], 5)];
    assert_eq!(show(By::Module, &stacks), "10 B.a:2");
}

#[test]
fn inlined_functions_are_callers_too() {
    // 61 is a call in B.a, with A.b … inlined: the caller comes first.
    assert_eq!(sites(61), [("A.b", "x.ml", 4), ("A.a", "x.ml", 5)]);
    assert_eq!(show(By::Site, &[(&[61, 21], 5)]), "5 A.a:5 A.b:4");
    assert_eq!(show(By::Site, &[(&[21, 61], 5)]), "5 A.b:4 B.a:2");
}
