//! Who points to each block: the one block that does, or that there are several.
//!
//! Some nine blocks of ten have a single block that points to them, which therefore dominates them.
//! Only the others need thought.

use std::sync::atomic::{AtomicU32, Ordering};

use super::bits::Bits;
use super::sweep::sweep;
use super::{NONE, SHARED};
use crate::read::{Error, Snapshot};
use crate::write::Space;

/// Blocks that need other care than most.
#[derive(Debug)]
pub(crate) struct Apart {
    /// Static data: never freed, so that no block keeps it alive.
    pub(crate) statics: Bits,
    /// Blocks of [`LARGE`] words or more, in no order.
    pub(crate) large: Vec<u32>,
    /// Custom blocks with bytes outside the heap, and how many, in no order.
    pub(crate) customs: Vec<(u32, u64)>,
}

/// Sizes from which on a block is large.
const LARGE: u64 = 256;

/// Looks for them.
pub(crate) fn apart(snapshot: &Snapshot<'_>, threads: usize) -> Result<Apart, Error> {
    let found = sweep(
        snapshot,
        threads,
        || (Vec::new(), Vec::new(), Vec::new()),
        |(ranges, large, customs), _, columns| {
            let mut start = 0;
            for (space, end) in columns.spaces() {
                if space == Space::Static {
                    ranges.push((columns.first.0 + start as u32, columns.first.0 + end as u32));
                }
                start = end;
            }
            if columns.has_larger_than(LARGE) {
                let some = columns.iter().filter(|block| block.wosize.0 >= LARGE);
                large.extend(some.map(|block| block.index.0));
            }
            let some = columns.customs().filter(|(.., bytes)| *bytes > 0);
            customs.extend(some.map(|(place, _, bytes)| (columns.first.0 + place as u32, bytes)));
        },
    )?;
    let mut apart = Apart {
        statics: Bits::new(snapshot.blocks() as usize),
        large: Vec::new(),
        customs: Vec::new(),
    };
    for (ranges, mut large, mut customs) in found {
        apart.large.append(&mut large);
        apart.customs.append(&mut customs);
        for block in ranges.into_iter().flat_map(|(start, end)| start..end) {
            apart.statics.insert(block);
        }
    }
    Ok(apart)
}

/// For each block the only one that points to it; [`NONE`] if none does, [`SHARED`] for those with
/// several, and for those in `heads`, whatever points to them.
pub(crate) fn parents(
    snapshot: &Snapshot<'_>,
    statics: &Bits,
    heads: impl Iterator<Item = u32>,
    into: &mut Vec<u32>,
    threads: usize,
) -> Result<(), Error> {
    let mut columns: Vec<AtomicU32> =
        std::mem::take(into).into_iter().map(AtomicU32::new).collect();
    columns.resize_with(snapshot.blocks() as usize, || AtomicU32::new(NONE));
    for parent in &mut columns {
        *parent.get_mut() = NONE;
    }
    for head in heads {
        if let Some(parent) = columns.get_mut(head as usize) {
            *parent.get_mut() = SHARED;
        }
    }
    for block in statics.iter() {
        *columns[block as usize].get_mut() = SHARED;
    }
    sweep(
        snapshot,
        threads,
        || (),
        |(), _, section| {
            for block in section.iter() {
                let index = block.index.0;
                for target in block.targets {
                    if *target == index {
                        continue;
                    }
                    let parent = &columns[*target as usize];
                    let mut seen = parent.load(Ordering::Relaxed);
                    if seen == NONE {
                        seen = match parent.compare_exchange(
                            NONE,
                            index,
                            Ordering::Relaxed,
                            Ordering::Relaxed,
                        ) {
                            Ok(_) => index,
                            Err(other) => other,
                        };
                    }
                    if seen != index && seen != SHARED {
                        parent.store(SHARED, Ordering::Relaxed);
                    }
                }
            }
        },
    )?;
    *into = columns.into_iter().map(AtomicU32::into_inner).collect();
    Ok(())
}

/// Replaces each block's parent by the head that it hangs from, the shared block at the top of its
/// tree of single parents. Blocks that hang from none get [`NONE`].
pub(crate) fn climb_to_heads(parents: &mut [u32]) {
    let mut seen = Bits::new(parents.len());
    for start in 0..parents.len() as u32 {
        if parents[start as usize] >= SHARED {
            continue;
        }
        let mut at = start;
        let head = loop {
            match parents[at as usize] {
                SHARED => break at,
                NONE => break NONE,
                // Whoever has been climbed over points to a head by now, unless it is on this very
                // path: a circle that nothing points to.
                above if !seen.insert(at) && parents[above as usize] < SHARED => break NONE,
                above => at = above,
            }
        };
        let mut at = start;
        while parents[at as usize] < SHARED && at != head {
            at = std::mem::replace(&mut parents[at as usize], head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_climbing_step_by_step(
            parents in proptest::collection::vec(prop_oneof![4 => 0u32..40, 1 => Just(SHARED), 1 => Just(NONE)], 40),
        ) {
            let mut heads = parents.clone();
            climb_to_heads(&mut heads);
            for start in 0..40u32 {
                let mut at = start;
                let mut steps = 0;
                let truth = loop {
                    match parents[at as usize] {
                        SHARED if at == start => break SHARED,
                        SHARED => break at,
                        NONE => break NONE,
                        _ if steps > 40 => break NONE,
                        above => at = above,
                    }
                    steps += 1;
                };
                prop_assert_eq!(heads[start as usize], truth);
            }
        }
    }
}
