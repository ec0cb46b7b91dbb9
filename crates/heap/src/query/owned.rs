//! How many blocks each owner has.

use serde::Serialize;

use super::heap::Heap;
use super::owners::{OwnerRow, owners};
use crate::graph::passes::sweep;
use crate::read::{Detail, Error};

/// An owner, with the number of its blocks.
#[derive(Clone, Debug, Serialize)]
pub struct OwnedBlocks {
    /// Blocks that are attributed to it.
    pub blocks: u64,
    /// Its row.
    #[serde(flatten)]
    pub owner: OwnerRow,
}

/// All owners with the numbers of their blocks, those of most bytes first, off-heap memory included.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn owned_blocks(heap: &Heap<'_>) -> Result<Vec<OwnedBlocks>, Error> {
    let of_blocks = heap.graph.owners_of_blocks(heap.threads);
    let start = || vec![0u64; heap.graph.root_nodes().len()];
    let gathered =
        sweep(&heap.snapshot, heap.threads, Detail::Sizes, start, |counts, _, columns| {
            for (block, _) in columns.sizes() {
                if let Some(owner) = of_blocks.get(block) {
                    counts[owner.0 as usize] += 1;
                }
            }
        })?;
    let of = |row: OwnerRow| OwnedBlocks {
        blocks: gathered.iter().map(|counts| counts[row.owner.0 as usize]).sum(),
        owner: row,
    };
    Ok(owners(heap, &[]).rows.into_iter().map(of).collect())
}
