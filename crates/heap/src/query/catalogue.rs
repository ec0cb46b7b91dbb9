//! Kind and size of every block, as columns: what views ask again and again without reading the
//! snapshot each time.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use zerocopy::IntoBytes as _;

use super::heap::Heap;
use super::kind::{self, Kind};
use crate::graph::chunk_buffer::ChunkBuffer;
use crate::graph::passes::sweep;
use crate::graph::{Column, Failed, Place};
use crate::read::{Detail, Error};
use crate::units::{BlockIndex, Bytes, Words};

/// A kind of block: a place among the names of a [`Catalogue`]. Kinds of one name are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct KindId(pub u16);

/// Kind and size of every block.
#[derive(Debug, Default)]
pub struct Catalogue {
    names: Vec<String>,
    known: HashMap<String, KindId, FxBuildHasher>,
    /// Which of them say no more than tag and size.
    untyped: Vec<bool>,
    /// The number of each block's kind.
    kinds: Column<u16>,
    /// Words with header; [`LARGE`] for those in `large`.
    words: Column<u16>,
    large: HashMap<u32, u64, FxBuildHasher>,
    /// Bytes outside the heap, of the few blocks that have any.
    external: HashMap<u32, u64, FxBuildHasher>,
}

const LARGE: u16 = u16::MAX;
/// What is beyond the kinds that have numbers.
const OTHERS: KindId = KindId(u16::MAX);
const OTHERS_NAME: &str = "other kinds";

/// What a thread reads of its sections.
#[derive(Default)]
struct Part {
    kinds: Vec<Kind>,
    known: HashMap<Kind, u32, FxBuildHasher>,
    /// Sections by number.
    sections: Vec<usize>,
    /// Of each block of the section that is read: its kind, as the halves of a place in `kinds`, and its words.
    blocks: Vec<[u16; 3]>,
    large: Vec<(u32, u64)>,
    external: Vec<(u32, u64)>,
}

impl Catalogue {
    /// Reads it from the snapshot.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(heap: &Heap<'_>) -> Result<Self, Error> {
        Self::new_in(&Place::Memory, heap).map_err(Failed::in_memory)
    }

    /// The same with columns at a place.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    pub fn new_in(place: &Place, heap: &Heap<'_>) -> Result<Self, Failed> {
        let (blocks, sections) = (heap.snapshot.blocks() as usize, heap.snapshot.sections());
        let buffer = ChunkBuffer::new(place, sections, blocks * size_of::<[u16; 3]>());
        let parts = sweep(
            &heap.snapshot,
            heap.threads,
            Detail::Edges,
            Part::default,
            |part, section, columns| {
                part.blocks.clear();
                kind::each(heap, columns, |block, kind, external| {
                    let number = *part.known.entry(kind).or_insert_with(|| {
                        part.kinds.push(kind);
                        part.kinds.len() as u32 - 1
                    });
                    let words = block.size().0;
                    if words >= u64::from(LARGE) {
                        part.large.push((block.index.0, words));
                    }
                    let (low, high) = (number as u16, (number >> u16::BITS) as u16);
                    part.blocks.push([low, high, words.min(u64::from(LARGE)) as u16]);
                    if external > 0 {
                        part.external.push((block.index.0, external));
                    }
                });
                buffer.put(section, part.blocks.as_bytes());
                part.sections.push(section);
            },
        )?;
        let pieces = buffer.finish()?;
        let kinds = place.column(blocks, || OTHERS.0)?;
        let mut catalogue = Self { kinds, words: place.zeros(blocks)?, ..Self::default() };
        for part in parts {
            let numbers: Vec<KindId> = part
                .kinds
                .into_iter()
                .map(|kind| {
                    let name = kind.name(&heap.snapshot, &heap.types);
                    catalogue.number(name, kind.is_untyped())
                })
                .collect();
            let kinds: &mut [u16] = &mut catalogue.kinds;
            let words: &mut [u16] = &mut catalogue.words;
            for section in part.sections {
                let first = heap.snapshot.first_of(section).0 as usize;
                let (halves, _) = pieces.get(section).as_chunks::<2>();
                let (threes, _) = halves.as_chunks::<3>();
                for (block, three) in (first..).zip(threes) {
                    let [low, high, size] = three.map(u16::from_ne_bytes);
                    let kind = u32::from(high) << u16::BITS | u32::from(low);
                    kinds[block] = numbers[kind as usize].0;
                    words[block] = size;
                }
            }
            catalogue.large.extend(part.large);
            catalogue.external.extend(part.external);
        }
        Ok(catalogue)
    }

    fn number(&mut self, name: String, is_untyped: bool) -> KindId {
        if let Some(known) = self.known.get(&name) {
            return *known;
        }
        if self.names.len() >= usize::from(OTHERS.0) {
            return OTHERS;
        }
        let id = KindId(self.names.len() as u16);
        self.names.push(name.clone());
        self.untyped.push(is_untyped);
        self.known.insert(name, id);
        id
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// A block's kind.
    #[inline]
    pub fn kind(&self, block: BlockIndex) -> KindId {
        self.kinds.get(block.0 as usize).copied().map_or(OTHERS, KindId)
    }

    /// A kind's name.
    pub fn name(&self, kind: KindId) -> &str {
        self.names.get(usize::from(kind.0)).map_or(OTHERS_NAME, String::as_str)
    }

    /// The names of all kinds that have numbers, in the order of these.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether nothing is known of the blocks of a kind but their tag and size.
    #[inline]
    pub fn is_untyped(&self, kind: KindId) -> bool {
        self.untyped.get(usize::from(kind.0)).copied().unwrap_or(false)
    }

    /// The kind of a name.
    pub fn find(&self, name: &str) -> Option<KindId> {
        let others = (name == OTHERS_NAME).then_some(OTHERS);
        self.known.get(name).copied().or(others)
    }

    /// A block's own size, header counted.
    #[inline]
    pub fn size(&self, block: BlockIndex) -> Words {
        match self.words.get(block.0 as usize) {
            Some(&LARGE) => Words(self.large.get(&block.0).copied().unwrap_or(0)),
            words => Words(words.copied().unwrap_or(0).into()),
        }
    }

    /// Bytes outside the heap that go with a block.
    pub fn external(&self, block: BlockIndex) -> Bytes {
        Bytes(self.external.get(&block.0).copied().unwrap_or(0))
    }

    /// The blocks with bytes outside the heap, in no order.
    pub fn externals(&self) -> impl Iterator<Item = (BlockIndex, Bytes)> {
        self.external.iter().map(|(block, bytes)| (BlockIndex(*block), Bytes(*bytes)))
    }

    /// What a block retains, itself counted.
    #[inline]
    pub fn retained(&self, heap: &Heap<'_>, block: BlockIndex) -> Words {
        heap.graph.retained(block).unwrap_or_else(|| self.size(block))
    }
}
