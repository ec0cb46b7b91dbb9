//! What a group of blocks and root nodes retains.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::heap::Heap;
use super::kind::{self, Kind};
use crate::graph::passes::sweep;
use crate::graph::{RemovalSet, RootNodeId};
use crate::read::{Block, Columns, Detail, Error};
use crate::units::{BlockIndex, Bytes, Words};

/// A group of blocks and root nodes.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Blocks one by one.
    pub blocks: Vec<BlockIndex>,
    /// All blocks of kinds, by their names.
    pub kinds: Vec<String>,
    /// Roots, with all below them.
    pub root_nodes: Vec<RootNodeId>,
}

/// What would be freed if a whole group were gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retained {
    /// How many blocks of the group are reachable.
    pub blocks: u64,
    /// Their own size, headers counted.
    pub bytes: Bytes,
    /// What of that is static data, which is never freed.
    pub static_bytes: Bytes,
    /// Bytes outside the heap that go with them.
    pub external: Bytes,
    /// What would be freed, themselves counted: all that cannot be reached but through them.
    pub retained: Bytes,
    /// Bytes outside the heap that would be freed.
    pub retained_external: Bytes,
}

/// What a group retains: exactly what would be freed if all of it were gone, also what several of it
/// retain jointly, and data of ephemerons that loses any of its keys.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn retained(heap: &Heap<'_>, group: &Group) -> Result<Retained, Error> {
    let mut removed = RemovalSet::nothing(&heap.snapshot);
    for root_node in &group.root_nodes {
        removed.root_node(*root_node);
    }
    let mut sum = Retained::default();
    let mut listed = group.blocks.clone();
    listed.retain(|block| heap.graph.is_reachable(*block));
    listed.sort_unstable();
    listed.dedup();
    for block in &listed {
        removed.block(*block);
    }
    if group.kinds.is_empty() {
        one_by_one(heap, &listed, &mut sum)?;
    } else {
        for block in of_kinds(heap, group, &listed, &mut sum)? {
            removed.block(block);
        }
    }
    if let ([block], [], []) = (&*listed, &*group.kinds, &*group.root_nodes)
        && heap.graph.is_exact()
        && !heap.graph.is_static(block.0)
    {
        sum.retained = heap.graph.retained(*block).map_or(sum.bytes, Words::bytes);
        sum.retained_external = heap.graph.external(*block);
        return Ok(sum);
    }
    let freed = heap.graph.freed(&heap.snapshot, &removed, heap.threads)?;
    sum.retained = freed.words.bytes();
    sum.retained_external = freed.external;
    Ok(sum)
}

impl Retained {
    fn add(&mut self, heap: &Heap<'_>, block: &Block<'_>, external: u64) {
        self.blocks += 1;
        self.bytes += block.size().bytes();
        if heap.graph.is_static(block.index.0) {
            self.static_bytes += block.size().bytes();
        }
        self.external += Bytes(external);
    }
}

/// Counts blocks that are listed, in order.
fn one_by_one(heap: &Heap<'_>, listed: &[BlockIndex], sum: &mut Retained) -> Result<(), Error> {
    let mut columns = Columns::new();
    let mut rest = listed;
    while let Some(section) = rest.first().and_then(|block| heap.snapshot.section_of(*block)) {
        heap.snapshot.decode(section, &mut columns)?;
        let end = heap.snapshot.first_of(section + 1);
        let (some, behind) = rest.split_at(rest.partition_point(|block| *block < end));
        rest = behind;
        let customs: HashMap<usize, u64, FxBuildHasher> =
            columns.customs().map(|(place, _, bytes)| (place, bytes)).collect();
        for block in some {
            let place = (block.0 - columns.first.0) as usize;
            if let Some(block) = columns.get(place) {
                sum.add(heap, &block, customs.get(&place).copied().unwrap_or(0));
            }
        }
    }
    Ok(())
}

/// Counts the blocks of kinds and those that are listed; gives those of the kinds.
fn of_kinds(
    heap: &Heap<'_>,
    group: &Group,
    listed: &[BlockIndex],
    sum: &mut Retained,
) -> Result<Vec<BlockIndex>, Error> {
    type Known = HashMap<Kind, bool, FxBuildHasher>;
    // Neighbours are often of one kind.
    let gathered = sweep(
        &heap.snapshot,
        heap.threads,
        Detail::Edges,
        || (Known::default(), Retained::default(), Vec::new()),
        |(known, sum, found), _, columns| {
            let mut last = None;
            kind::each(heap, columns, |block, kind, external| {
                let is_meant = match last {
                    Some((last, is_meant)) if last == kind => is_meant,
                    _ => *known.entry(kind).or_insert_with(|| {
                        group
                            .kinds
                            .iter()
                            .any(|name| kind.is_called(&heap.snapshot, &heap.types, name))
                    }),
                };
                last = Some((kind, is_meant));
                if is_meant && heap.graph.is_reachable(block.index) {
                    found.push(block.index);
                    sum.add(heap, &block, external);
                } else if !listed.is_empty() && listed.binary_search(&block.index).is_ok() {
                    sum.add(heap, &block, external);
                }
            });
        },
    )?;
    let mut all = Vec::new();
    for (_, more, mut found) in gathered {
        sum.blocks += more.blocks;
        sum.bytes += more.bytes;
        sum.static_bytes += more.static_bytes;
        sum.external += more.external;
        all.append(&mut found);
    }
    Ok(all)
}
