//! Kind and size of every block, as columns: what views ask again and again without reading the
//! snapshot each time.

use std::ops::Range;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::heap::Heap;
use super::kind::{self, Kind};
use crate::graph::column::{into_atomic, into_plain};
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
    /// For each block the number of its kind and its words, as [`packed`] does.
    blocks: Column<u32>,
    /// Words of those for which [`LARGE`] stands.
    large: HashMap<u32, u64, FxBuildHasher>,
    /// Bytes outside the heap, of the few blocks that have any.
    external: HashMap<u32, u64, FxBuildHasher>,
}

/// Words with header of large blocks.
const LARGE: u16 = u16::MAX;
/// What is beyond the kinds that have numbers.
const OTHERS: KindId = KindId(u16::MAX);
const OTHERS_NAME: &str = "other kinds";

/// The number of a kind, and words.
const fn packed(kind: u16, words: u16) -> u32 {
    (kind as u32) << u16::BITS | words as u32
}

const fn unpacked(block: u32) -> (u16, u16) {
    ((block >> u16::BITS) as u16, block as u16)
}

/// What a thread reads of its sections. The numbers of its kinds are its own.
#[derive(Default)]
struct Part {
    kinds: Vec<Kind>,
    known: HashMap<Kind, u32, FxBuildHasher>,
    /// Its blocks.
    ranges: Vec<Range<usize>>,
    /// Those whose kinds have numbers that do not fit.
    more: Vec<(u32, u32)>,
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
        // Each thread writes where its blocks are: pieces of their own would need as much memory again.
        let blocks = place.column(heap.snapshot.blocks() as usize, || packed(OTHERS.0, 0))?;
        let blocks = into_atomic(blocks);
        let parts = sweep(
            &heap.snapshot,
            heap.threads,
            Detail::Edges,
            Part::default,
            |part, section, columns| {
                let first = heap.snapshot.first_of(section).0 as usize;
                let mut end = first;
                kind::each(heap, columns, |block, kind, external| {
                    let number = *part.known.entry(kind).or_insert_with(|| {
                        part.kinds.push(kind);
                        part.kinds.len() as u32 - 1
                    });
                    let words = block.size().0;
                    if words >= u64::from(LARGE) {
                        part.large.push((block.index.0, words));
                    }
                    let fitting = u16::try_from(number).unwrap_or(OTHERS.0);
                    if fitting == OTHERS.0 {
                        part.more.push((block.index.0, number));
                    }
                    let place = block.index.0 as usize;
                    if let Some(at) = blocks.get(place) {
                        let words = words.min(u64::from(LARGE)) as u16;
                        at.store(packed(fitting, words), Ordering::Relaxed);
                    }
                    end = end.max(place + 1);
                    if external > 0 {
                        part.external.push((block.index.0, external));
                    }
                });
                part.ranges.push(first..end);
            },
        )?;
        let mut catalogue = Self { blocks: into_plain(blocks), ..Self::default() };
        for part in parts {
            let numbers: Vec<KindId> = part
                .kinds
                .into_iter()
                .map(|kind| {
                    let name = kind.name(&heap.snapshot, &heap.types);
                    catalogue.number(name, kind.is_untyped())
                })
                .collect();
            let blocks: &mut [u32] = &mut catalogue.blocks;
            let mut renumber = |block: usize, number: Option<u32>| {
                let Some(block) = blocks.get_mut(block) else { return };
                let (own, words) = unpacked(*block);
                let number = number.unwrap_or(u32::from(own)) as usize;
                *block = packed(numbers.get(number).map_or(OTHERS.0, |kind| kind.0), words);
            };
            for block in part.ranges.into_iter().flatten() {
                renumber(block, None);
            }
            for (block, number) in part.more {
                renumber(block as usize, Some(number));
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
        self.blocks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// A block's kind.
    #[inline]
    pub fn kind(&self, block: BlockIndex) -> KindId {
        self.blocks.get(block.0 as usize).map_or(OTHERS, |block| KindId(unpacked(*block).0))
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
        match self.blocks.get(block.0 as usize).map_or(0, |block| unpacked(*block).1) {
            LARGE => Words(self.large.get(&block.0).copied().unwrap_or(0)),
            words => Words(words.into()),
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
