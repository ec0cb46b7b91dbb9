//! Paths that lead to blocks, put together where one variable has very different ones.
//!
//! A table leads to each of its entries by a path of its own, and blocks on the way were sampled by chance. One row a
//! path would not tell more than the table's name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use memtrail_order::SortRows as _;
use memtrail_profile::estimate::Sum;

use super::steps::{Hop, Of};

/// Different paths from one root that are shown as they are; roots of threads, too.
const SHOWN: usize = 3;

/// A path to a block, whether the block is reachable, and how much of all blocks it stands for.
type Path = (Rc<[Hop]>, bool, Sum);

/// A path, and how much of all blocks it leads to.
type Leading = (Rc<[Hop]>, Sum);

/// Paths that are shown as one, and what they lead to; those of most bytes first.
pub(super) fn grouped(paths: Vec<Path>) -> Vec<(Vec<String>, bool, Sum)> {
    let paths = with_threads_merged(paths);
    let mut of_root: HashMap<(Hop, bool), Vec<Leading>> = HashMap::new();
    for (path, is_reachable, sum) in paths {
        let Some(first) = path.first() else { continue };
        of_root.entry((without_position(first), is_reachable)).or_default().push((path, sum));
    }
    let mut shown: Vec<(Vec<String>, bool, Sum)> = Vec::new();
    for ((root, is_reachable), paths) in of_root {
        let exact = summed(paths.iter().map(|(path, sum)| (path.to_vec(), sum)));
        let rows = if exact.len() <= SHOWN {
            exact
        } else {
            let alike = summed(paths.iter().map(|(path, sum)| (shape(path), sum)));
            if alike.len() <= SHOWN { alike } else { vec![of_all(root, &paths)] }
        };
        shown.extend(
            rows.into_iter()
                .map(|(path, sum)| (path.iter().map(Hop::to_string).collect(), is_reachable, sum)),
        );
    }
    shown.sort_rows_by(|(a, _, one), (b, _, other)| {
        (Reverse(one.samples), a).cmp(&(Reverse(other.samples), b))
    });
    shown
}

/// The roots of paths, without positions, and what they lead to; those of most bytes first.
pub(super) fn by_root(paths: Vec<Path>) -> Vec<(Hop, Sum)> {
    let mut sums: HashMap<Hop, Sum> = HashMap::new();
    for (path, _, sum) in with_threads_merged(paths) {
        let Some(first) = path.first() else { continue };
        sums.entry(without_position(first)).or_default().add(&sum);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_rows_by(|(a, one), (b, other)| {
        (Reverse(one.samples), a).cmp(&(Reverse(other.samples), b))
    });
    sums
}

/// A root without where in it the pointer is.
fn without_position(hop: &Hop) -> Hop {
    match hop {
        Hop::Variable { name, position, .. } => {
            Hop::Variable { name: Rc::clone(name), at: None, position: Rc::clone(position) }
        }
        Hop::Block { site, .. } => Hop::Block { site: site.clone(), at: None },
        other => other.clone(),
    }
}

/// Makes one root of those of more threads than are shown.
fn with_threads_merged(paths: Vec<Path>) -> Vec<Path> {
    let mut threads: BTreeMap<Of, BTreeSet<u32>> = BTreeMap::new();
    for (path, ..) in &paths {
        if let Some(Hop::Thread(of, thread)) = path.first() {
            threads.entry(*of).or_default().insert(*thread);
        }
    }
    let merged = |(path, is_reachable, sum): Path| {
        let path = match path.split_first() {
            Some((Hop::Thread(of, _), rest)) if threads[of].len() > SHOWN => {
                let root = Hop::Threads(*of, threads[of].len());
                [root].into_iter().chain(rest.iter().cloned()).collect()
            }
            _ => path,
        };
        (path, is_reachable, sum)
    };
    paths.into_iter().map(merged).collect()
}

/// A path without positions, and without what follows itself.
fn shape(path: &[Hop]) -> Vec<Hop> {
    let mut shape: Vec<Hop> = path.iter().map(without_position).collect();
    shape.dedup();
    shape
}

/// Sums of equal paths.
fn summed<'s>(paths: impl Iterator<Item = (Vec<Hop>, &'s Sum)>) -> Vec<(Vec<Hop>, Sum)> {
    let mut sums: HashMap<Vec<Hop>, Sum> = HashMap::new();
    for (path, sum) in paths {
        sums.entry(path).or_default().add(sum);
    }
    sums.into_iter().collect()
}

/// The root, and the calls that allocated blocks on the way, those on most paths first.
fn of_all(root: Hop, paths: &[Leading]) -> (Vec<Hop>, Sum) {
    let mut met: HashMap<&Rc<str>, usize> = HashMap::new();
    let mut all = Sum::default();
    for (path, sum) in paths {
        all.add(sum);
        let sites: BTreeSet<&Rc<str>> = path
            .iter()
            .filter_map(|hop| match hop {
                Hop::Block { site, .. } => site.as_ref(),
                _ => None,
            })
            .collect();
        for site in sites {
            *met.entry(site).or_default() += 1;
        }
    }
    let mut met: Vec<_> = met.into_iter().collect();
    met.sort_rows_by_key(|(site, count)| (Reverse(*count), Rc::clone(site)));
    let sites = met.into_iter().take(SHOWN).map(|(site, _)| Hop::Blocks(Rc::clone(site)));
    ([root].into_iter().chain(sites).collect(), all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: &str, blocks: &[(Option<&str>, u64)]) -> Path {
        let root = Hop::Variable {
            name: "table".into(),
            at: (!at.is_empty()).then(|| at.into()),
            position: "cache.c:9".into(),
        };
        let block = |(site, at): &(Option<&str>, u64)| Hop::Block {
            site: site.map(Into::into),
            at: Some(*at),
        };
        ([root].into_iter().chain(blocks.iter().map(block)).collect(), true, one())
    }

    fn one() -> Sum {
        let mut sum = Sum::default();
        sum.samples = 1;
        sum
    }

    fn rows(paths: Vec<Path>) -> Vec<(String, u64)> {
        let rows = grouped(paths).into_iter();
        rows.map(|(steps, _, sum)| (steps.join(" → "), sum.samples)).collect()
    }

    /// Each chain of a table was a row of its own, 366 in all.
    #[test]
    fn paths_through_chains_of_a_table_are_one() {
        let put = Some("allocated in put (cache.c:22)");
        let chains = (0..20).map(|k| {
            let blocks = match k % 4 {
                0 => vec![(None, 0)],
                1 => vec![(put, 8)],
                2 => vec![(put, 8), (None, 16)],
                _ => vec![(None, 0), (put, 8), (None, 16)],
            };
            entry(&format!("+{:#x}", 8 * k), &blocks)
        });
        let paths: Vec<Path> = chains.collect();
        let expected = "variable table (cache.c:9) → blocks allocated in put (cache.c:22)";
        assert_eq!(rows(paths), [(expected.to_owned(), 20)]);
    }

    #[test]
    fn few_paths_are_shown_as_they_are() {
        let paths = vec![entry("+0x18", &[(None, 8)]), entry("", &[(Some("allocated in put"), 0)])];
        assert_eq!(
            rows(paths),
            [
                ("variable table (cache.c:9) → block allocated in put, at +0x0".to_owned(), 1),
                (
                    "variable table+0x18 (cache.c:9) → block that was not sampled, at +0x8"
                        .to_owned(),
                    1
                ),
            ]
        );
    }

    #[test]
    fn positions_are_left_out_where_they_are_all_that_differs() {
        let paths = (0..9).map(|k| entry("", &[(None, 8 * k)])).collect();
        let expected = "variable table (cache.c:9) → blocks that were not sampled";
        assert_eq!(rows(paths), [(expected.to_owned(), 9)]);
    }

    #[test]
    fn stacks_of_many_threads_are_one_root() {
        let stack = |thread| (Rc::from([Hop::Thread(Of::Stack, thread)]), true, one());
        assert_eq!(rows((1..=7).map(stack).collect()), [("stacks of 7 threads".to_owned(), 7)]);
        assert_eq!(rows(vec![stack(1), stack(2)]).len(), 2);
    }
}
