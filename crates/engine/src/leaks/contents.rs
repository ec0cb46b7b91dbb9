//! What is in what an owner owns: the container that retains most, its entries, and the kinds of blocks.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::contents::{Structure, Structures};
use memtrail_heap::graph::{OwnersOfBlocks, RootNodeId};
use memtrail_heap::query::{AllocatedBy, AllocatedPart, KindId};
use memtrail_heap::{BlockIndex, Bytes};
use memtrail_order::SortRows as _;

use crate::api_error::ApiError;
use crate::heap::allocated::Allocated;
use crate::heap::loaded::LoadedSnapshot;

/// What an owner owns, of one of the owners that are asked for.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) container: Option<Container>,
    /// Kinds of blocks, that of most bytes first.
    pub(super) kinds: Vec<KindSum>,
    pub(super) weak: WeakCells,
}

/// The cells of ephemerons and weak arrays, those that refer to values without retaining them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WeakCells {
    /// All of them.
    pub(super) all: u64,
    /// Those without a value: it is gone, or there never was one.
    pub(super) empty: u64,
}

/// Words of an ephemeron that are no cells: the header, the next ephemeron and the data.
const NO_CELLS: u64 = 3;

/// A container.
pub(super) struct Container {
    pub(super) structure: Structure,
    /// What it alone retains.
    pub(super) retained: Bytes,
    /// How many; nothing of arrays and buffers.
    pub(super) entries: Option<u64>,
    /// The number of chains of a hash table that have entries.
    pub(super) chains: Option<u64>,
    /// The most frequent kind of values.
    pub(super) values: Option<KindSum>,
}

/// Blocks of a kind.
#[derive(Clone)]
pub(super) struct KindSum {
    pub(super) name: String,
    pub(super) blocks: u64,
    pub(super) bytes: Bytes,
    /// Whether the name is a type's.
    pub(super) is_type: bool,
    /// What allocated most of the owner's blocks of the kind, if they have no type and that is known.
    pub(super) allocated: Option<AllocatedBy>,
}

/// What allocated more than half of an owner's blocks of a kind.
fn most(parts: &[AllocatedPart], blocks: u64) -> Option<AllocatedBy> {
    let is_most = |part: &&AllocatedPart| part.blocks.saturating_mul(2) > blocks;
    parts.iter().find(is_most).map(|part| part.by.clone())
}

/// Of each of some owners; `of_root` has the numbers that the result is by.
pub(super) fn contents(
    loaded: &LoadedSnapshot,
    allocated: &Allocated<'_>,
    block_owners: &OwnersOfBlocks<'_>,
    of_root: &HashMap<RootNodeId, usize>,
    count: usize,
) -> Result<Vec<Contents>, ApiError> {
    let mut all: Vec<Contents> = (0..count).map(|_| Contents::default()).collect();
    if of_root.is_empty() {
        return Ok(all);
    }
    let (heap, catalogue) = (loaded.heap(), &loaded.catalogue);
    let owner = |block: BlockIndex| Some(*of_root.get(&block_owners.get(block)?)?);
    let mut kinds: Vec<HashMap<KindId, (u64, u64, BlockIndex)>> = vec![HashMap::new(); count];
    for block in (0..catalogue.len() as u32).map(BlockIndex) {
        if let Some(number) = owner(block) {
            let (blocks, words, _) =
                kinds[number].entry(catalogue.kind(block)).or_insert((0, 0, block));
            (*blocks, *words) = (*blocks + 1, *words + catalogue.size(block).0);
        }
    }
    for (number, (contents, kinds)) in all.iter_mut().zip(kinds).enumerate() {
        let roots = of_root.iter().filter(|(_, of)| **of == number).map(|(root, _)| *root);
        let roots: Vec<RootNodeId> = roots.collect();
        let parts = if allocated.is_empty() {
            HashMap::new()
        } else {
            allocated.parts(loaded.untyped_places(), Some(&roots))
        };
        let sum = |(kind, (blocks, words, example))| {
            let by = parts.get(&kind).and_then(|parts| most(parts, blocks));
            KindSum { allocated: by, ..kind_sum(loaded, kind, blocks, words, example) }
        };
        contents.kinds = kinds.into_iter().map(sum).collect();
        contents.kinds.sort_rows_by(|a, b| (b.bytes, &a.name).cmp(&(a.bytes, &b.name)));
    }
    for ephemeron in &heap.snapshot.ephemerons {
        if let Some(number) = owner(ephemeron.block) {
            let cells = catalogue.size(ephemeron.block).0.saturating_sub(NO_CELLS);
            let weak = &mut all[number].weak;
            weak.all += cells;
            weak.empty += cells.saturating_sub(ephemeron.keys.len() as u64);
        }
    }
    let structures = loaded.structures()?;
    let mut largest: Vec<Option<(u64, Reverse<BlockIndex>, Structure)>> = vec![None; count];
    for (block, structure) in structures.all() {
        if heap.graph.is_reachable(block)
            && let Some(number) = owner(block)
        {
            let found = (catalogue.retained(heap, block).0, Reverse(block), structure);
            largest[number] = largest[number].max(Some(found));
        }
    }
    for (contents, largest) in all.iter_mut().zip(largest) {
        contents.container = largest.map(|(words, Reverse(block), structure)| {
            let retained = memtrail_heap::Words(words).bytes();
            let mut container = container(loaded, structures, block, structure, retained);
            if let Some(values) = &mut container.values {
                let of_kind = contents.kinds.iter().find(|kind| kind.name == values.name);
                values.allocated = of_kind.and_then(|kind| kind.allocated.clone());
            }
            container
        });
    }
    Ok(all)
}

fn kind_sum(
    loaded: &LoadedSnapshot,
    kind: KindId,
    blocks: u64,
    words: u64,
    example: BlockIndex,
) -> KindSum {
    KindSum {
        name: loaded.catalogue.name(kind).to_owned(),
        blocks,
        bytes: memtrail_heap::Words(words).bytes(),
        is_type: loaded.heap().types.of(example).is_some(),
        allocated: None,
    }
}

fn container(
    loaded: &LoadedSnapshot,
    structures: &Structures,
    block: BlockIndex,
    structure: Structure,
    retained: Bytes,
) -> Container {
    let catalogue = &loaded.catalogue;
    let (mut count, mut chains) = (0, 0);
    let mut kinds: HashMap<KindId, (u64, u64, BlockIndex)> = HashMap::new();
    structures.each_entry(block, structure, |entry| {
        count += 1;
        chains += u64::from(entry.before == 0);
        if let Some(value) = entry.value.or(entry.key) {
            let (blocks, words, _) = kinds.entry(catalogue.kind(value)).or_insert((0, 0, value));
            (*blocks, *words) = (*blocks + 1, *words + catalogue.size(value).0);
        }
    });
    let most = kinds.into_iter().max_by_key(|(kind, (blocks, ..))| (*blocks, Reverse(*kind)));
    let entries = match structure {
        Structure::Array | Structure::Buffer => None,
        _ => Some(count),
    };
    Container {
        structure,
        retained,
        entries,
        chains: (structure == Structure::HashTable).then_some(chains),
        values: most
            .map(|(kind, (blocks, words, example))| kind_sum(loaded, kind, blocks, words, example)),
    }
}

/// Whether blocks of a kind are what a structure is made of, rather than what is in it.
pub(super) fn is_cell(structure: Structure, kind: &str) -> bool {
    let kind = kind.trim_start_matches("~ ");
    match structure {
        Structure::HashTable => kind.contains("bucketlist") || kind == "Hashtbl.t (Cons)",
        Structure::Map | Structure::Set => kind.ends_with("(Node)"),
        Structure::Queue => kind.contains("Queue.") && kind.ends_with("(Cons)"),
        Structure::List => kind.ends_with("list (::)"),
        Structure::Array | Structure::Buffer => false,
    }
}
