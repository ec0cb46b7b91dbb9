//! Containers: hash tables, maps, arrays and the like, with what their keys and values take up, and what is
//! wasted.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::catalogue::{Catalogue, KindId};
use super::contained::Contained;
use super::heap::Heap;
use super::held_values::held_by_roots;
use super::owners::Names;
use super::path::{Path, details_of, retaining_path};
use crate::contents::{Entry, Structure, Structures};
use crate::graph::RootNodeId;
use crate::read::{Columns, Error};
use crate::units::{BlockIndex, Bytes, Words};

/// A container.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Container {
    /// What it is: `hashtbl`, `map` and so on.
    pub structure: &'static str,
    /// Its first block.
    pub block: BlockIndex,
    /// Its type, as far as it is known.
    pub r#type: String,
    /// Where it is: the path from a root in one line.
    pub path: String,
    /// The root that it is attributed to: a variable's full name.
    pub owner: String,
    /// If that is a global variable without a name, what it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub owner_holds: Option<String>,
    /// That root's number.
    pub owner_root: Option<RootNodeId>,
    /// Where the owner is defined, if it is a variable and that is known: `cache.ml:12`.
    pub position: Option<String>,
    /// What it retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// How many entries or elements it has; none of buffers.
    pub entries: Option<u64>,
    /// How many chains of entries a hash table has room for.
    pub buckets: Option<u64>,
    /// How many of these have no entry.
    pub empty_buckets: Option<u64>,
    /// The number of entries of the longest.
    pub longest_bucket: Option<u64>,
    /// Its keys, if it has any.
    pub keys: Option<Contained>,
    /// Its values or elements.
    pub values: Option<Contained>,
    /// What could be saved.
    pub waste: Waste,
}

/// What could be saved in a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Waste {
    /// Room of hash tables for entries that are not there, and elements at the end of an array that are all the
    /// same.
    pub empty: Bytes,
    /// Keys and values that are floats or other numbers in blocks of their own.
    pub boxed: Bytes,
    /// Strings among keys and values that are there several times; unknown if the snapshot has no contents.
    pub duplicates: Option<Bytes>,
}

impl Waste {
    /// All of it.
    pub fn sum(&self) -> Bytes {
        self.empty + self.boxed + self.duplicates.unwrap_or_default()
    }
}

/// The containers that retain most.
#[derive(Clone, Debug, Serialize)]
pub struct Containers {
    /// They, those that retain most first.
    pub rows: Vec<Container>,
    /// How many there are.
    pub count: u64,
}

/// The containers that retain most, of some sorts, among the snapshot's structures.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn containers(
    heap: &Heap<'_>,
    structures: &Structures,
    catalogue: &Catalogue,
    of: &[Structure],
    most: usize,
) -> Result<Containers, Error> {
    let mut all = structures.all();
    all.retain(|(block, structure)| of.contains(structure) && heap.graph.is_reachable(*block));
    let count = all.len() as u64;
    all.sort_by_cached_key(|(block, _)| (Reverse(catalogue.retained(heap, *block)), *block));
    all.truncate(most);
    let mut looked_at: Vec<Contents> = all
        .iter()
        .map(|(block, structure)| Contents::new(structures, *block, *structure))
        .collect();
    elements(heap, &mut looked_at)?;
    let duplicates = duplicates(heap, catalogue, &looked_at)?;
    let measure = Measure { heap, catalogue, numbers: numbers(catalogue) };
    let paths = paths(heap, &looked_at)?;
    let names = Names::new(heap);
    let mut rows: Vec<Container> = looked_at
        .into_iter()
        .zip(duplicates)
        .zip(paths)
        .map(|((contents, duplicates), path)| {
            let owner = heap.graph.owner(contents.block).map(|owner| names.definition(owner));
            Container {
                path,
                owner: owner.map_or_else(String::new, |owner| names.own_name(owner)),
                owner_root: owner,
                position: owner.and_then(|owner| names.position(owner)),
                ..measure.container(structures, &contents, duplicates)
            }
        })
        .collect();
    let owners: Vec<RootNodeId> = rows.iter().filter_map(|row| row.owner_root).collect();
    let held = held_by_roots(heap, &owners)?;
    for row in &mut rows {
        row.owner_holds = row.owner_root.and_then(|root| held.get(&root).cloned());
    }
    Ok(Containers { rows, count })
}

/// The keys and values of a container.
struct Contents {
    block: BlockIndex,
    structure: Structure,
    keys: Vec<BlockIndex>,
    values: Vec<BlockIndex>,
    entries: u64,
    chains: u64,
    longest: u64,
    /// Elements at the end of an array that are the same.
    same_at_end: u64,
}

impl Contents {
    fn new(structures: &Structures, block: BlockIndex, structure: Structure) -> Self {
        let (keys, values) = (Vec::new(), Vec::new());
        let (entries, chains, longest, same_at_end) = (0, 0, 0, 0);
        let mut contents =
            Self { block, structure, keys, values, entries, chains, longest, same_at_end };
        structures.each_entry(block, structure, |Entry { key, value, before }| {
            contents.entries += 1;
            contents.keys.extend(key);
            contents.values.extend(value);
            contents.chains += u64::from(before == 0);
            contents.longest = contents.longest.max(before + 1);
        });
        for blocks in [&mut contents.keys, &mut contents.values] {
            blocks.sort_unstable();
            blocks.dedup();
        }
        contents
    }
}

/// Reads the elements of arrays.
fn elements(heap: &Heap<'_>, all: &mut [Contents]) -> Result<(), Error> {
    let mut arrays: Vec<&mut Contents> =
        all.iter_mut().filter(|contents| contents.structure == Structure::Array).collect();
    arrays.sort_unstable_by_key(|contents| contents.block);
    let mut columns = Columns::new();
    let mut decoded = None;
    for contents in arrays {
        let Some(section) = heap.snapshot.section_of(contents.block) else { continue };
        if decoded != Some(section) {
            heap.snapshot.decode(section, &mut columns)?;
            decoded = Some(section);
        }
        let place = (contents.block.0 - columns.first.0) as usize;
        let Some(array) = columns.get(place) else { continue };
        contents.entries = array.wosize.0;
        contents.values = array.targets.iter().copied().map(BlockIndex).collect();
        let last = columns.fields(place).last();
        contents.same_at_end = match (last, contents.values.last().copied()) {
            // An immediate, or the same block again and again.
            (Some(field), Some(value)) if field + 1 == array.wosize.0 => {
                let same =
                    contents.values.iter().rev().take_while(|other| **other == value).count();
                if same > 1 { same as u64 } else { 0 }
            }
            (Some(field), _) => array.wosize.0 - field - 1,
            (None, _) => 0,
        };
        contents.values.sort_unstable();
        contents.values.dedup();
    }
    Ok(())
}

/// The retaining path of each container in one line.
fn paths(heap: &Heap<'_>, all: &[Contents]) -> Result<Vec<String>, Error> {
    let reachable = all.iter().map(|contents| contents.block);
    let paths: Vec<_> =
        reachable.filter_map(|block| Some((block, retaining_path(heap, block)?))).collect();
    let (blocks, paths): (Vec<BlockIndex>, Vec<_>) = paths.into_iter().unzip();
    let details = details_of(heap, &paths)?;
    let text = |(block, path)| Path::new(heap, block, path, &details).text;
    Ok(blocks.into_iter().zip(&paths).map(text).collect())
}

/// For each container the bytes of strings that it has several times; `None` without contents.
fn duplicates(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    all: &[Contents],
) -> Result<Vec<Option<Bytes>>, Error> {
    if !heap.snapshot.has_contents() {
        return Ok(vec![None; all.len()]);
    }
    let contained = || all.iter().flat_map(|contents| contents.keys.iter().chain(&contents.values));
    let wanted: HashSet<BlockIndex, FxBuildHasher> = contained().copied().collect();
    // Long strings come in pieces.
    let mut hashes: HashMap<BlockIndex, u128, FxBuildHasher> = HashMap::default();
    heap.snapshot.contents(|block, offset, piece| {
        if wanted.contains(&block) {
            let hash = hashes.entry(block).or_default();
            let mixed = xxhash_rust::xxh3::xxh3_128_with_seed(piece, offset);
            *hash = hash.rotate_left(1) ^ mixed;
        }
    })?;
    Ok(all
        .iter()
        .map(|contents| {
            let mut blocks: Vec<BlockIndex> =
                contents.keys.iter().chain(&contents.values).copied().collect();
            blocks.sort_unstable();
            blocks.dedup();
            let mut seen: HashSet<(u128, Words), FxBuildHasher> = HashSet::default();
            let again = blocks.into_iter().filter_map(|block| {
                let size = catalogue.size(block);
                (!seen.insert((*hashes.get(&block)?, size))).then(|| size.bytes())
            });
            Some(again.sum())
        })
        .collect())
}

/// Kinds of blocks that hold one number.
fn numbers(catalogue: &Catalogue) -> Vec<KindId> {
    ["float", "int32", "int64", "nativeint", "custom _i", "custom _j", "custom _n"]
        .into_iter()
        .filter_map(|name| catalogue.find(name))
        .collect()
}

/// What is needed to measure containers.
struct Measure<'h, 'a> {
    heap: &'h Heap<'a>,
    catalogue: &'h Catalogue,
    numbers: Vec<KindId>,
}

/// The entries of a structure whose elements are not in an array: how many, its keys if it has any, and its values.
pub(super) fn measured(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    structures: &Structures,
    block: BlockIndex,
    structure: Structure,
) -> (u64, Option<Contained>, Contained) {
    let contents = Contents::new(structures, block, structure);
    let keys = has_keys(structure).then(|| contained(heap, catalogue, &contents.keys));
    (contents.entries, keys, contained(heap, catalogue, &contents.values))
}

const fn has_keys(structure: Structure) -> bool {
    matches!(structure, Structure::HashTable | Structure::Map)
}

fn contained(heap: &Heap<'_>, catalogue: &Catalogue, blocks: &[BlockIndex]) -> Contained {
    let sum = |size: &dyn Fn(BlockIndex) -> Words| {
        Words(blocks.iter().map(|block| size(*block).0).sum()).bytes()
    };
    Contained {
        blocks: blocks.len() as u64,
        bytes: sum(&|block| catalogue.size(block)),
        retained: sum(&|block| catalogue.retained(heap, block)),
    }
}

impl Measure<'_, '_> {
    fn contained(&self, blocks: &[BlockIndex]) -> Contained {
        contained(self.heap, self.catalogue, blocks)
    }

    fn boxed(&self, contents: &Contents) -> Bytes {
        let mut blocks: Vec<BlockIndex> =
            contents.keys.iter().chain(&contents.values).copied().collect();
        blocks.sort_unstable();
        blocks.dedup();
        let numbers =
            blocks.into_iter().filter(|block| self.numbers.contains(&self.catalogue.kind(*block)));
        numbers.map(|block| self.catalogue.size(block).bytes()).sum()
    }

    /// All but the path and the owner.
    fn container(
        &self,
        structures: &Structures,
        contents: &Contents,
        duplicates: Option<Bytes>,
    ) -> Container {
        let Contents { block, structure, .. } = *contents;
        let heap = self.heap;
        let is_table = structure == Structure::HashTable;
        let buckets = structures.room(block).filter(|_| is_table);
        let empty_buckets = buckets.map(|room| room.saturating_sub(contents.chains));
        let empty = Words(empty_buckets.unwrap_or(0) + contents.same_at_end).bytes();
        let has_values = structure != Structure::Buffer;
        // The first cell of a list has a type only if that is declared.
        let is_unnamed = structure == Structure::List && heap.types.of(block).is_none();
        let named = structures.next_cell(block).filter(|_| is_unnamed).unwrap_or(block);
        Container {
            structure: structure.name(),
            block,
            r#type: self.catalogue.name(self.catalogue.kind(named)).to_owned(),
            path: String::new(),
            owner: String::new(),
            owner_holds: None,
            owner_root: None,
            position: None,
            retained: self.catalogue.retained(heap, block).bytes(),
            retained_external: heap.graph.external(block),
            entries: has_values.then_some(contents.entries),
            buckets,
            empty_buckets,
            longest_bucket: is_table.then_some(contents.longest),
            keys: has_keys(structure).then(|| self.contained(&contents.keys)),
            values: has_values.then(|| self.contained(&contents.values)),
            waste: Waste { empty, boxed: self.boxed(contents), duplicates },
        }
    }
}
