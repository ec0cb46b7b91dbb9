//! Owners that last: what one owner hands to another in a step is of one owner with it.

use super::constants::{FEW, FLIP, LEAST, OLDER, SHARE};
use super::evidence::{Evidence, OwnerEvidence};

/// Owners that have had the same memory, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Place of the owner that it is named after in [`Evidence::owners`].
    pub name: usize,
    /// Places of all of them.
    pub members: Vec<usize>,
    /// Their sizes together, by snapshot.
    pub sizes: Vec<f64>,
}

/// Puts owners together that hand memory to each other. So a table that is being resized has no dip, and a variable that is
/// in use for a moment owns nothing for long.
#[must_use]
pub fn series(evidence: &Evidence) -> Vec<Series> {
    let count = evidence.work.len();
    let owners = &evidence.owners;
    let size = |owner: usize, at: usize| owners[owner].sizes.get(at).copied().unwrap_or(0) as f64;
    let alive = |at: usize| evidence.alive.get(at).copied().unwrap_or(0) as f64;
    let heap = (0..count).map(alive).fold(0.0, f64::max);
    let most: Vec<f64> = (0..owners.len())
        .map(|owner| (0..count).map(|at| size(owner, at)).fold(0.0, f64::max))
        .collect();
    let least = LEAST.max(SHARE / 2.0 * heap);
    let large: Vec<usize> = (0..owners.len()).filter(|owner| most[*owner] >= least).collect();
    let mut parent: Vec<usize> = (0..owners.len()).collect();
    // Between estimates, chance hands over.
    let exact = if evidence.is_estimated { 1 } else { count };
    for at in 1..exact {
        let slack = SHARE * alive(at);
        // While snapshots are far apart, an owner grows before it hands over: with the work, and to twice its size at most.
        let work = |at: usize| evidence.work.get(at).copied().unwrap_or(0.0);
        let growth = (work(at) / work(at - 1).max(f64::MIN_POSITIVE) - 1.0).clamp(0.0, 1.0);
        for loser in &large {
            let before = size(*loser, at - 1);
            let lost = before - size(*loser, at);
            if lost <= 0.0 || lost < (FLIP * before).max(slack) {
                continue;
            }
            for gainer in &large {
                let (had, has) = (size(*gainer, at - 1), size(*gainer, at));
                let got = has - had;
                // One of both is passing: it has little before, or after.
                let most = 2.0f64.mul_add(lost, slack) + growth * before;
                let is_as_much = got >= FLIP * lost && got <= most;
                let is_new = || is_new(&owners[*gainer], work(at - 1), work(at));
                if loser != gainer && is_as_much && had <= has / 2.0 && !is_new() {
                    let (from, to) = (root(&parent, *gainer), root(&parent, *loser));
                    parent[from] = to;
                }
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); owners.len()];
    for owner in large {
        groups[root(&parent, owner)].push(owner);
    }
    let named = |members: Vec<usize>| {
        let sizes: Vec<f64> = (0..count)
            .map(|at| members.iter().map(|owner| size(*owner, at)).sum::<f64>())
            .collect();
        let has =
            |owner: usize| (0..count).filter(|at| size(owner, *at) >= sizes[*at] / 2.0).count();
        let name = members.iter().copied().max_by(|a, b| {
            let key = |owner: usize| (has(owner), is_variable(&owners[owner].kind));
            key(*a).cmp(&key(*b)).then(most[*a].total_cmp(&most[*b]))
        });
        name.map(|name| Series { name, members, sizes })
    };
    groups.into_iter().filter_map(named).collect()
}

/// True if what an owner has at a snapshot was allocated after the one before it: nobody has handed that over.
fn is_new(owner: &OwnerEvidence, before: f64, at: f64) -> bool {
    let alive = owner.births.iter().copied().filter(|born| *born <= at);
    let freed = owner.freed.iter().filter(|life| life.born <= at && life.died > at);
    let dates: Vec<f64> = alive.chain(freed.map(|life| life.born)).collect();
    let older = dates.iter().filter(|born| **born <= before).count();
    dates.len() >= FEW && older as f64 <= OLDER * dates.len() as f64
}

/// True for variables, which outlive frames.
pub(super) fn is_variable(kind: &str) -> bool {
    kind == "global" || kind == "static"
}

fn root(parent: &[usize], mut owner: usize) -> usize {
    while parent[owner] != owner {
        owner = parent[owner];
    }
    owner
}
