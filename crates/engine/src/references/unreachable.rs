//! Blocks to which no reference leads: leaks, by the calls that allocated them.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_profile::estimate::Sum;
use memtrail_references::{Reachability, References, State};
use memtrail_trace::Site;
use serde::Serialize;

use super::joined::{BlocksEstimate, add, sampled, seconds};
use crate::leaks::Place;
use crate::leaks::sites::AllocationPaths;
use crate::recording::Recording;

/// What is unreachable, by call site.
#[derive(Clone, Debug, Serialize)]
pub struct UnreachableResponse {
    /// When references were looked for, in seconds since the start.
    pub at: f64,
    /// References were found by a conservative scan: always `true`.
    pub conservative: bool,
    /// What is reachable from variables, stacks and thread-local variables.
    pub reachable: BlocksEstimate,
    /// What is referred to from memory of unknown use alone.
    pub elsewhere: BlocksEstimate,
    /// What nothing refers to but blocks that are unreachable themselves.
    pub unreachable: BlocksEstimate,
    /// The call sites of these, those of most bytes first.
    pub sites: Vec<UnreachableSite>,
    /// How many call sites there are.
    pub count: usize,
}

/// Unreachable blocks that were allocated by the same calls.
#[derive(Clone, Debug, Serialize)]
pub struct UnreachableSite {
    /// The call that allocated, and its callers.
    pub allocated: Vec<Place>,
    /// All of them.
    pub unreachable: BlocksEstimate,
    /// Those of them to which nothing refers at all.
    pub direct: BlocksEstimate,
}

/// Finds what is unreachable.
pub(crate) fn unreachable(
    recording: &Recording,
    references: &References,
    limit: usize,
) -> UnreachableResponse {
    let reachability = Reachability::new(references);
    let paths = AllocationPaths::new(recording);
    let (mut reachable, mut elsewhere, mut all) = <(Sum, Sum, Sum)>::default();
    let mut sites: HashMap<Vec<Site>, (Sum, Sum)> = HashMap::new();
    for (node, row) in sampled(recording, references) {
        let state = reachability.state(node);
        match state {
            State::Reachable => add(recording, &mut reachable, row),
            State::Elsewhere => add(recording, &mut elsewhere, row),
            State::Leaked | State::IndirectlyLeaked => {
                add(recording, &mut all, row);
                let (both, direct) = sites.entry(paths.of(row)).or_default();
                add(recording, both, row);
                if state == State::Leaked {
                    add(recording, direct, row);
                }
            }
        }
    }
    let count = sites.len();
    let mut sites: Vec<_> = sites.into_iter().collect();
    sites.sort_by_key(|(path, (both, _))| (Reverse(both.samples), paths.places(path)));
    let site = |(path, (both, direct)): (Vec<Site>, (Sum, Sum))| UnreachableSite {
        allocated: paths.places(&path),
        unreachable: BlocksEstimate::of(recording, &both),
        direct: BlocksEstimate::of(recording, &direct),
    };
    UnreachableResponse {
        at: seconds(recording, references),
        conservative: true,
        reachable: BlocksEstimate::of(recording, &reachable),
        elsewhere: BlocksEstimate::of(recording, &elsewhere),
        unreachable: BlocksEstimate::of(recording, &all),
        sites: sites.into_iter().take(limit).map(site).collect(),
        count,
    }
}
