//! Blocks to which no reference leads: leaks, by the calls that allocated them.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_profile::estimate::Sum;
use memtrail_references::{Reachability, References, State};
use memtrail_trace::Site;

use super::descriptions;
use super::joined::{add, sampled, seconds};
use crate::leaks::sites::AllocationPaths;
use crate::leaks::{BlocksEstimate, UnreachableResponse, UnreachableSite};
use crate::recording::Recording;

/// Finds what is unreachable.
pub(crate) fn unreachable(
    recording: &Recording,
    references: &References,
    limit: usize,
) -> UnreachableResponse {
    let reachability = Reachability::new(references);
    let paths = AllocationPaths::new(recording);
    let (mut reachable, mut garbage, mut elsewhere, mut all) = <(Sum, Sum, Sum, Sum)>::default();
    let mut sites: HashMap<Vec<Site>, (Sum, Sum)> = HashMap::new();
    for (node, row) in sampled(recording, references) {
        let state = reachability.state(node);
        match state {
            State::Reachable => add(recording, &mut reachable, row),
            State::Garbage => add(recording, &mut garbage, row),
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
    let at = seconds(recording, references);
    let site = |(path, (both, direct)): (Vec<Site>, (Sum, Sum))| {
        let allocated = paths.places(&path);
        let unreachable = BlocksEstimate::of(recording, &both);
        let direct = BlocksEstimate::of(recording, &direct);
        UnreachableSite {
            heading: descriptions::heading(&unreachable, at),
            descriptions: descriptions::of_site(&allocated, &unreachable, &direct),
            allocated,
            unreachable,
            direct,
        }
    };
    let [reachable, garbage, elsewhere, unreachable] =
        [reachable, garbage, elsewhere, all].map(|sum| BlocksEstimate::of(recording, &sum));
    UnreachableResponse {
        at,
        conservative: true,
        summary: descriptions::summary([&reachable, &garbage, &elsewhere], &unreachable, at),
        reachable,
        garbage,
        elsewhere,
        unreachable,
        sites: sites.into_iter().take(limit).map(site).collect(),
        count,
    }
}

impl UnreachableResponse {
    /// Takes out the call sites that are known, and gives their number. All call sites must be listed.
    pub(crate) fn forget(&mut self, mut is_known: impl FnMut(&UnreachableSite) -> bool) -> usize {
        let before = self.sites.len();
        self.sites.retain(|site| !is_known(site));
        let known = before - self.sites.len();
        if known == 0 {
            return 0;
        }
        self.count -= known;
        self.unreachable = self.sites.iter().fold(BlocksEstimate::default(), |mut sum, site| {
            sum += site.unreachable;
            sum
        });
        let others = [&self.reachable, &self.garbage, &self.elsewhere];
        self.summary = descriptions::summary(others, &self.unreachable, self.at);
        known
    }
}
