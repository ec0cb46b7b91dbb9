//! Names the variables, stacks and thread-local data that retain the blocks of suspected call sites.

use std::collections::HashMap;

use memtrail_profile::estimate::Sum;
use memtrail_references::{Reachability, References, State};
use memtrail_text::rounded::{percent, seconds as written};
use memtrail_trace::Site;

use super::grouped::by_root;
use super::heap_values::HeapValues;
use super::joined::{add, sampled, seconds};
use super::steps::Steps;
use crate::leaks::sites::AllocationPaths;
use crate::leaks::{BlocksEstimate, Place, Retainer, Suspect};
use crate::recording::Recording;

/// A root that retains a smaller part is not named.
const LEAST: f64 = 0.05;
/// Roots that are named at most.
const NAMED: usize = 3;
/// A larger part is all.
const ALL: f64 = 0.95;

/// Describes what retains the blocks of each suspected call site, and gives the function that `memtrail why` takes.
pub(crate) fn add_retainers(
    recording: &Recording,
    references: &References,
    suspects: &mut [Suspect],
) {
    let paths = AllocationPaths::new(recording);
    let of_path: HashMap<Vec<Place>, usize> =
        suspects.iter().enumerate().map(|(at, suspect)| (suspect.allocated.clone(), at)).collect();
    let mut known: HashMap<Vec<Site>, Option<usize>> = HashMap::new();
    let reachability = Reachability::new(references);
    let mut steps = Steps::new(recording, references, &reachability, HeapValues::unknown());
    let mut of_suspect: Vec<(Vec<_>, Sum)> = suspects.iter().map(|_| Default::default()).collect();
    for (node, row) in sampled(recording, references) {
        let path = paths.of(row);
        let place = if let Some(place) = known.get(&path) {
            *place
        } else {
            let place = of_path.get(&paths.whole_places(&path)).copied();
            known.insert(path, place);
            place
        };
        let Some((roots, all)) = place.and_then(|place| of_suspect.get_mut(place)) else {
            continue;
        };
        let mut sum = Sum::default();
        add(recording, &mut sum, row);
        all.add(&sum);
        // Memory of unknown use is no answer.
        if reachability.state(node) == State::Reachable {
            roots.extend(steps.of(node).map(|path| (path, true, sum)));
        }
    }
    let at = seconds(recording, references);
    for (suspect, (roots, all)) in suspects.iter_mut().zip(of_suspect) {
        let bytes = |sum: &Sum| BlocksEstimate::of(recording, sum).bytes.value;
        let whole = bytes(&all);
        if whole <= 0.0 {
            continue;
        }
        let named = by_root(roots)
            .into_iter()
            .map(|(root, sum)| Retainer { name: root.to_string(), share: bytes(&sum) / whole });
        suspect.retained_by = named.filter(|row| row.share >= LEAST).take(NAMED).collect();
        suspect.descriptions.extend(description(&suspect.retained_by, at));
        suspect.next = suspect.allocated.first().map(|place| place.function.clone());
    }
}

/// `retained by variable table (cache.c:9) at 2.1 s`.
fn description(retainers: &[Retainer], at: f64) -> Option<String> {
    let at = written(at);
    match retainers {
        [] => None,
        [one] if one.share >= ALL => Some(format!("retained by {} at {at}", one.name)),
        several => {
            let parts: Vec<String> = several
                .iter()
                .map(|row| format!("{} of it by {}", percent(row.share), row.name))
                .collect();
            Some(format!("retained at {at}: {}", parts.join(", ")))
        }
    }
}
