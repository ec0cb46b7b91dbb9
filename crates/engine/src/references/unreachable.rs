//! Blocks to which no reference leads: leaks, by the calls that allocated them.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_order::SortRows as _;
use memtrail_profile::estimate::Sum;
use memtrail_references::{Reachability, References, State};
use memtrail_trace::Site;

use super::descriptions;
use super::joined::{add, sampled, seconds};
use crate::leaks::sites::AllocationPaths;
use crate::leaks::{BlocksEstimate, Place, UnreachableResponse, UnreachableSite};
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
    let mut sites = CallSites::default();
    for (node, row) in sampled(recording, references) {
        let state = reachability.state(node);
        match state {
            State::Reachable => add(recording, &mut reachable, row),
            State::Garbage => add(recording, &mut garbage, row),
            State::Elsewhere => add(recording, &mut elsewhere, row),
            State::Leaked | State::IndirectlyLeaked => {
                add(recording, &mut all, row);
                let (both, direct) = sites.sums_of(paths.of(row), &paths);
                add(recording, both, row);
                if state == State::Leaked {
                    add(recording, direct, row);
                }
            }
        }
    }
    let mut sites = sites.sums;
    let count = sites.len();
    sites.sort_rows_by(|(a, (a_both, _)), (b, (b_both, _))| {
        (Reverse(a_both.samples), a).cmp(&(Reverse(b_both.samples), b))
    });
    let at = seconds(recording, references);
    let site = |(allocated, (both, direct)): (Vec<Place>, (Sum, Sum))| {
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
        forgotten: 0,
        reachable,
        garbage,
        elsewhere,
        unreachable,
        sites: sites.into_iter().take(limit).map(site).collect(),
        count,
    }
}

/// Sums of unreachable blocks, and those of them to which nothing refers at all, by call site.
#[derive(Default)]
struct CallSites {
    /// The number of a path's call site.
    of_path: HashMap<Vec<Site>, usize>,
    of_places: HashMap<Vec<Place>, usize>,
    sums: Vec<(Vec<Place>, (Sum, Sum))>,
}

impl CallSites {
    /// Calls of one line are one call site: they read the same.
    fn sums_of(&mut self, path: Vec<Site>, paths: &AllocationPaths<'_>) -> &mut (Sum, Sum) {
        let Self { of_path, of_places, sums } = self;
        let number = *of_path.entry(path).or_insert_with_key(|path| {
            let places = paths.places(path);
            *of_places.entry(places).or_insert_with_key(|places| {
                sums.push((places.clone(), <(Sum, Sum)>::default()));
                sums.len() - 1
            })
        });
        &mut sums[number].1
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
        if self.sites.is_empty() {
            self.summary =
                self.summary.replacen("no unreachable block", "no other unreachable block", 1);
        }
        self.forgotten = known;
        known
    }
}
