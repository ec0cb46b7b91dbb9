//! Types of a snapshot's blocks, from those of global variables.

use std::path::Path;

use memtrail_heap::graph::{Failed, Graph, Place};
use memtrail_heap::query::Heap;
use memtrail_heap::{Bytes, give_back_freed};
use memtrail_typeflow::{Coverage, Flowed, UnitBlock, flow_in};
use memtrail_types::Types;

use super::variables::known_modules;

/// Of the memory that an analysis may use, decoded blocks may take a fourth.
const PART_FOR_BLOCKS: u64 = 4;

/// Without a limit, decoded blocks may take so many bytes for each block, a third of what they have: the rest is decoded
/// again when it is needed, for 3 % of the time, and the analysis needs as much memory before.
const DECODED_PER_BLOCK: u64 = 7;
/// So many are not worth the time.
const MIN_DECODED: Bytes = Bytes(64 << 20);

/// Gives blocks their types, as far as they follow from those of global variables.
pub(super) fn find(
    heap: &mut Heap<'_>,
    types: &Types,
    place: &Place,
    memory: Option<Bytes>,
) -> Result<(), Failed> {
    heap.types = flowed(heap, types, (place, memory), false)?.types;
    give_back_freed();
    Ok(())
}

/// How far these types reach.
pub(crate) fn coverage(
    heap: &Heap<'_>,
    types: &Types,
    place: &Place,
    memory: Option<Bytes>,
) -> Result<Coverage, Failed> {
    Ok(flowed(heap, types, (place, memory), true)?.coverage.unwrap_or_default())
}

/// Gives the memory of the analysis back to the system, as far as its index has it, too: finding types needs memory of its
/// own and looks at hardly anything of the graph.
pub(crate) fn give_back(heap: &mut Heap<'_>, index: &Path) {
    if !heap.graph.is_of_index()
        && let Some(graph) = Graph::open_index(&heap.snapshot, index)
    {
        heap.graph = graph;
    }
    heap.graph.give_back();
    give_back_freed();
}

fn flowed(
    heap: &Heap<'_>,
    types: &Types,
    (place, memory): (&Place, Option<Bytes>),
    count: bool,
) -> Result<Flowed, Failed> {
    // Files of version 1 have names alone.
    if types.table.terms.is_empty() && !count {
        return Ok(Flowed::default());
    }
    let modules = known_modules(heap, types)?;
    let names: Vec<_> =
        modules.iter().map(|known| String::from_utf8_lossy(&known.module.name)).collect();
    let units: Vec<UnitBlock<'_>> = modules
        .iter()
        .zip(&names)
        .map(|(known, name)| UnitBlock { block: known.module.block, name, layout: known.layout })
        .collect();
    let room = memory.map_or_else(
        || Bytes(u64::from(heap.snapshot.blocks()) * DECODED_PER_BLOCK).max(MIN_DECODED),
        |memory| Bytes(memory.0 / PART_FOR_BLOCKS),
    );
    let graph = count.then_some(&heap.graph);
    flow_in(place, &heap.snapshot, &types.table, &units, room, graph)
}
