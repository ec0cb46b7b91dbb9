//! What is recognised in a snapshot, and how to go through the entries of a structure.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::arrays::{Arrays, Table, Wanted, arrays};
use super::block_form::NO_TARGET;
use super::chains::Chains;
use super::facts::{Candidates, Facts};
use super::types::{Found, Part};
use super::{buffers, hash_tables, lists, queues, trees};
use crate::block_types::BlockTypes;
use crate::graph::Failed;
use crate::graph::bits::Bits;
use crate::graph::column::Place;
use crate::read::{Error, Snapshot};
use crate::units::BlockIndex;

/// A structure of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Structure {
    /// `Hashtbl.t`
    HashTable,
    /// `Map.Make(…).t`
    Map,
    /// `Set.Make(…).t`
    Set,
    /// An array that is no hash table's.
    Array,
    /// `Queue.t`
    Queue,
    /// `Buffer.t`
    Buffer,
    /// A list.
    List,
}

impl Structure {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::HashTable, Self::Map, Self::Set, Self::Array, Self::Queue, Self::Buffer, Self::List];

    /// Its name: `hashtbl`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HashTable => "hashtbl",
            Self::Map => "map",
            Self::Set => "set",
            Self::Array => "array",
            Self::Queue => "queue",
            Self::Buffer => "buffer",
            Self::List => "list",
        }
    }
}

/// An entry of a structure; what is `None` is an immediate, or there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key of a hash table or map.
    pub key: Option<BlockIndex>,
    /// The value, or the element.
    pub value: Option<BlockIndex>,
    /// Entries of the same chain before it.
    pub before: u64,
}

/// What is recognised in a snapshot.
#[derive(Debug)]
pub struct Structures {
    facts: Facts,
    found: Found,
    arrays: Arrays,
}

impl Structures {
    /// Recognises the structures of OCaml's standard library.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(snapshot: &Snapshot<'_>, threads: usize) -> Result<Self, Error> {
        Self::new_in(&Place::Memory, snapshot, threads).map_err(Failed::in_memory)
    }

    /// The same with columns at a place.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    pub fn new_in(place: &Place, snapshot: &Snapshot<'_>, threads: usize) -> Result<Self, Failed> {
        Self::of_untyped(place, snapshot, &BlockTypes::default(), threads)
    }

    /// The same of blocks that have no type in `known`.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    pub(super) fn of_untyped(
        place: &Place,
        snapshot: &Snapshot<'_>,
        known: &BlockTypes,
        threads: usize,
    ) -> Result<Self, Failed> {
        let facts = Facts::new(place, snapshot, threads)?;
        let mut found = Found::new(place, snapshot.blocks(), known)?;
        let cells = Chains::new(place, &facts, &facts.pairs, &found)?;
        queues::mark(&facts, &cells, &mut found);
        lists::mark(&facts, &cells, &mut found);
        drop(cells);
        trees::mark_maps(place, &facts, &mut found)?;
        trees::mark_sets(place, &facts, &mut found)?;
        let buckets = Chains::new(place, &facts, &facts.triples, &found)?;
        let holders = snapshot.roots.iter().filter_map(|root| Some(root.field_of?.0.0));
        let mut modules: Vec<u32> = holders.collect();
        modules.sort_unstable();
        modules.dedup();
        let tables = hash_tables::wanted(&facts, &found);
        let wanted = Wanted { tables, strings: buffers::wanted(&facts, &found), modules };
        let arrays = arrays(snapshot, threads, (&facts, &found), &buckets, &wanted)?;
        hash_tables::mark(&facts, &arrays, &mut found);
        buffers::mark(&facts, &arrays, &mut found);
        for array in &arrays.alone {
            found.set(*array, Part::Array);
        }
        Ok(Self { facts, found, arrays })
    }

    /// Adds the first cells of lists, which contents alone do not tell from pairs of a value and a list: those that
    /// are declared, and where no type is known the only pair before a list that looks like its cells.
    pub fn add_first_cells(&mut self, types: &BlockTypes) {
        let Self { facts, found, .. } = self;
        lists::mark_first(facts, types, found);
    }

    /// The cell behind a cell of a list.
    pub fn next_cell(&self, cell: BlockIndex) -> Option<BlockIndex> {
        let [_, next] = self.facts.pairs.fields(self.facts.pairs.place(cell.0)?);
        (next != NO_TARGET).then_some(BlockIndex(next))
    }

    /// True if a block is a bucket of a table of `Ephemeron`. Such tables drop ephemerons that are empty before they grow.
    pub fn is_ephemeron_bucket(&self, block: BlockIndex) -> bool {
        self.found.part(block.0) == Some(Part::EphemeronBucket)
    }

    /// The types of all blocks that belong to a structure.
    pub fn into_types(self) -> BlockTypes {
        self.found.into_types()
    }

    /// The blocks that structures start with, in the order of blocks.
    pub fn all(&self) -> Vec<(BlockIndex, Structure)> {
        // Nodes and cells that others of the same structure point to.
        let mut inner = Bits::new(self.found.len());
        let mut mark = |from: u32, to: u32| {
            if to != NO_TARGET && self.found.part(from) == self.found.part(to) {
                inner.insert(to);
            }
        };
        for (node, [left, _, _, right]) in self.facts.quints.iter() {
            mark(node, left);
            mark(node, right);
        }
        for (node, [left, _, right]) in self.facts.quads.iter() {
            mark(node, left);
            mark(node, right);
        }
        for (cell, [_, next]) in self.facts.pairs.iter() {
            mark(cell, next);
        }
        let structure = |block: u32| {
            Some(match self.found.part(block)? {
                Part::HashTable => Structure::HashTable,
                Part::Queue => Structure::Queue,
                Part::Buffer | Part::NestedBuffer => Structure::Buffer,
                Part::Array => Structure::Array,
                Part::MapNode if !inner.contains(block) => Structure::Map,
                Part::SetNode if !inner.contains(block) => Structure::Set,
                Part::ListCell if !inner.contains(block) => Structure::List,
                _ => return None,
            })
        };
        (0..self.found.len() as u32)
            .filter_map(|block| Some((BlockIndex(block), structure(block)?)))
            .collect()
    }

    /// The structure that starts with a block, or, of lists, maps and sets, goes on with it.
    pub fn starts(&self, block: BlockIndex) -> Option<Structure> {
        Some(match self.found.part(block.0)? {
            Part::HashTable => Structure::HashTable,
            Part::Queue => Structure::Queue,
            Part::MapNode => Structure::Map,
            Part::SetNode => Structure::Set,
            Part::ListCell => Structure::List,
            _ => return None,
        })
    }

    /// Whether the field of a structure's block leads to another block of the same structure, not to a key or value.
    pub fn is_inside(&self, from: BlockIndex, field: Option<u64>, to: BlockIndex) -> bool {
        let parts = (self.found.part(from.0), self.found.part(to.0));
        let (Some(from), Some(to)) = parts else { return false };
        match (from, to) {
            (Part::HashTable, Part::Buckets)
            | (Part::Buckets, Part::Bucket)
            | (Part::Queue, Part::QueueCell) => true,
            (Part::Bucket, Part::Bucket) => field == Some(2),
            (Part::MapNode, Part::MapNode) => matches!(field, Some(0 | 3)),
            (Part::SetNode, Part::SetNode) => matches!(field, Some(0 | 2)),
            (Part::ListCell, Part::ListCell) | (Part::QueueCell, Part::QueueCell) => {
                field == Some(1)
            }
            _ => false,
        }
    }

    /// How many chains of buckets a hash table has room for.
    pub fn room(&self, table: BlockIndex) -> Option<u64> {
        Some(self.table(table.0)?.room)
    }

    fn table(&self, first: u32) -> Option<&Table> {
        let [_, buckets, _] = self.facts.quads.fields(self.facts.quads.place(first)?);
        self.arrays.tables.get(&buckets)
    }

    /// Goes through the entries of a structure in no order. Elements of arrays, and bytes of buffers, are in the
    /// snapshot alone.
    pub fn each_entry(&self, first: BlockIndex, of: Structure, mut each: impl FnMut(Entry)) {
        let block = |target: u32| (target != NO_TARGET).then_some(BlockIndex(target));
        match of {
            Structure::HashTable => {
                let Some(table) = self.table(first.0) else { return };
                let chains = self.arrays.buckets.get(table.first..table.first + table.chains);
                for first in chains.unwrap_or_default() {
                    let mut at = *first;
                    let mut before = 0;
                    while let Some(place) = self.facts.triples.place(at) {
                        let [key, value, next] = self.facts.triples.fields(place);
                        each(Entry { key: block(key), value: block(value), before });
                        (at, before) = (next, before + 1);
                    }
                }
            }
            Structure::Map => nodes(&self.facts.quints, first.0, |[left, key, value, right]| {
                each(Entry { key: block(key), value: block(value), before: 0 });
                [left, right]
            }),
            Structure::Set => nodes(&self.facts.quads, first.0, |[left, value, right]| {
                each(Entry { key: None, value: block(value), before: 0 });
                [left, right]
            }),
            Structure::Queue | Structure::List => {
                let first = match of {
                    Structure::List => Some(first.0),
                    _ => {
                        self.facts.triples.place(first.0).map(|at| self.facts.triples.fields(at)[1])
                    }
                };
                let mut at = first.unwrap_or(NO_TARGET);
                while let Some(place) = self.facts.pairs.place(at) {
                    let [value, next] = self.facts.pairs.fields(place);
                    each(Entry { key: None, value: block(value), before: 0 });
                    at = next;
                }
            }
            Structure::Array | Structure::Buffer => {}
        }
    }
}

/// Goes through the nodes of a tree, each once: only those of damaged snapshots are in it several times.
fn nodes<const N: usize>(
    candidates: &Candidates<N>,
    root: u32,
    mut each: impl FnMut([u32; N]) -> [u32; 2],
) {
    let mut seen: HashSet<u32, FxBuildHasher> = HashSet::default();
    let mut todo = vec![root];
    while let Some(at) = todo.pop() {
        if let Some(place) = candidates.place(at)
            && seen.insert(at)
        {
            todo.extend(each(candidates.fields(place)));
        }
    }
}
