//! The first walk: where all blocks start, so that each has its number.

use std::io;

use super::block_starts::{BlockStarts, Recent};
use super::details::Details;
use super::immediates::{self, Immediates};
use super::source::{ClosureFormat, HeapRuntime, Layout, Region, Source};
use crate::tag;

/// Numbers of blocks end well before 2^32, so that labels and marks have room above them.
pub(super) const MAX_BLOCKS: u64 = (1 << 32) - (1 << 20);

/// What the first walk found.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// The regions by address.
    pub(super) regions: Vec<Region<'a>>,
    pub(super) block_starts: BlockStarts,
    pub(super) blocks: u64,
}

/// A block's header, taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) tag: u8,
    pub(super) wosize: u64,
    colour: u8,
}

impl HeapRuntime {
    #[inline]
    pub(super) fn header(self, header: u64) -> Header {
        let reserved = self.reserved_header_bits & 31;
        Header {
            tag: header as u8,
            wosize: header << reserved >> reserved >> 10,
            colour: (header >> 8 & 3) as u8,
        }
    }

    /// Which field of a block is the first that may hold a value; `fields.len()` if none may.
    #[inline]
    pub(super) fn first_value(self, tag: u8, fields: &[u64]) -> usize {
        match tag {
            tag::ABSTRACT.. => fields.len(),
            tag::CLOSURE => match (self.closures, fields.get(1)) {
                (ClosureFormat::WithInfo, Some(info)) => {
                    (info << 8 >> 9).min(fields.len() as u64) as usize
                }
                _ => 0,
            },
            tag::CONTINUATION if self.continuations => 1.min(fields.len()),
            _ => 0,
        }
    }
}

/// Whether a word can be a pointer to a block.
#[inline]
pub(super) const fn is_pointer(word: u64) -> bool {
    word.trailing_zeros() >= 3 && word != 0
}

impl<'a> Region<'a> {
    pub(super) fn end(&self) -> u64 {
        self.start.saturating_add(self.words.len() as u64 * 8)
    }

    /// Words of a slot, 0 if blocks are not in slots.
    pub(super) fn slot(&self) -> u32 {
        match self.layout {
            Layout::Slots { slot, .. } => slot.max(1),
            _ => 0,
        }
    }

    /// The header word and the fields of the block at `address`, as far as they are there.
    #[inline]
    pub(super) fn block(&self, address: u64, runtime: HeapRuntime) -> Option<(Header, &'a [u64])> {
        let field = (address.checked_sub(self.start)? >> 3) as usize;
        let header = runtime.header(*self.words.get(field.checked_sub(1)?)?);
        let end = field.checked_add(usize::try_from(header.wosize).ok()?)?;
        Some((header, self.words.get(field..end)?))
    }
}

impl<'a> Found<'a> {
    /// The region that holds `address`.
    pub(super) fn region(&self, address: u64) -> Option<&Region<'a>> {
        region_of(&self.regions, address)
    }

    /// The number of the block that a value is, or is inside of.
    #[inline]
    pub(super) fn index(
        &self,
        value: u64,
        runtime: HeapRuntime,
        recent: &mut Recent,
    ) -> Option<u32> {
        match self.block_starts.index(value, recent) {
            Some(index) => Some(index),
            None => self.block_starts.index(
                enclosing(&self.regions, value, &self.block_starts, runtime, recent)?,
                recent,
            ),
        }
    }
}

fn region_of<'r, 'a>(regions: &'r [Region<'a>], address: u64) -> Option<&'r Region<'a>> {
    let after = regions.partition_point(|region| region.start <= address);
    regions.get(after.checked_sub(1)?).filter(|region| address < region.end())
}

/// The closure that a pointer points into.
#[cold]
fn enclosing(
    regions: &[Region<'_>],
    value: u64,
    block_starts: &BlockStarts,
    runtime: HeapRuntime,
    recent: &mut Recent,
) -> Option<u64> {
    if !is_pointer(value) || !block_starts.covers(value, recent) {
        return None;
    }
    let region = region_of(regions, value)?;
    let at = (value.checked_sub(region.start)? >> 3).checked_sub(1)?;
    let header = runtime.header(*region.words.get(at as usize)?);
    if header.tag != tag::INFIX {
        return None;
    }
    value.checked_sub(header.wosize.checked_mul(8)?).filter(|base| *base > region.start)
}

/// Finds all blocks.
pub(super) fn find<'a, D: Details>(
    source: &Source<'a>,
    details: &mut D,
    immediates: &mut Immediates,
    max_blocks: u64,
) -> io::Result<Found<'a>> {
    let mut regions: Vec<Region<'a>> =
        source.regions.iter().filter(|region| !region.words.is_empty()).copied().collect();
    regions.sort_unstable_by_key(|region| region.start);
    let mut end = 0;
    regions.retain(|region| {
        let apart = region.start >= end && region.start.is_multiple_of(8);
        if apart {
            end = region.end();
        }
        apart
    });

    let mut block_starts = BlockStarts::new();
    for region in &regions {
        block_starts.cover(region.start, region.end());
    }
    let reached = regions.iter().any(|region| region.layout == Layout::Reached);
    let mut walk = Walk {
        runtime: source.runtime,
        reached: Reached::new(&regions, reached),
        block_starts,
        recent: Recent::new(),
        regions: &regions,
        immediates,
        todo: Vec::new(),
    };
    for region in &regions {
        walk.region(region, details);
    }
    for root in &source.roots {
        walk.point(root.value);
    }
    for ephemeron in &source.ephemerons {
        if let Some((_, fields)) = region_of(&regions, *ephemeron)
            .and_then(|region| region.block(*ephemeron, source.runtime))
        {
            for field in fields.iter().skip(1) {
                walk.point(*field);
            }
        }
    }
    while let Some(block) = walk.todo.pop() {
        if let Some((header, fields)) =
            region_of(&regions, block).and_then(|region| region.block(block, source.runtime))
        {
            walk.count(header.tag, fields);
            walk.fields(block, header.tag, fields, details);
        }
    }
    let mut block_starts = walk.block_starts;
    let blocks = block_starts.number();
    if blocks > max_blocks {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("{blocks} blocks, and a snapshot can number {max_blocks}"),
        ));
    }
    Ok(Found { regions, block_starts, blocks })
}

struct Walk<'w, 'a> {
    runtime: HeapRuntime,
    reached: Reached,
    block_starts: BlockStarts,
    recent: Recent,
    regions: &'w [Region<'a>],
    immediates: &'w mut Immediates,
    /// Blocks that were reached and not yet looked into.
    todo: Vec<u64>,
}

impl Walk<'_, '_> {
    fn region<D: Details>(&mut self, region: &Region<'_>, details: &mut D) {
        let words = region.words;
        match region.layout {
            Layout::Linear { free_colour } => {
                let mut at = 0;
                while let Some(word) = words.get(at) {
                    let header = self.runtime.header(*word);
                    let next = (at as u64).saturating_add(header.wosize).saturating_add(1);
                    let Ok(next) = usize::try_from(next) else { break };
                    if header.wosize > 0 && free_colour != Some(header.colour) {
                        let Some(fields) = words.get(at + 1..next) else { break };
                        self.block(region.start + at as u64 * 8 + 8, header.tag, fields, details);
                    }
                    at = next;
                }
            }
            Layout::Slots { first, slot } => {
                let slot = (slot as usize).max(1);
                let slots = words.get(first as usize..).unwrap_or(&[]).chunks_exact(slot);
                for (number, words) in slots.enumerate() {
                    let header = self.runtime.header(words[0]);
                    if words[0] == 0 || header.wosize == 0 {
                        continue;
                    }
                    let Some(fields) = words.get(1..(header.wosize as usize).saturating_add(1))
                    else {
                        continue;
                    };
                    let word = u64::from(first) + (number * slot) as u64;
                    self.block(region.start + word * 8 + 8, header.tag, fields, details);
                }
            }
            Layout::Reached => {}
        }
    }

    #[inline]
    fn block<D: Details>(&mut self, address: u64, tag: u8, fields: &[u64], details: &mut D) {
        self.block_starts.set(address, &mut self.recent);
        self.count(tag, fields);
        if !self.reached.none() {
            self.fields(address, tag, fields, details);
        }
    }

    #[inline]
    fn count(&mut self, tag: u8, fields: &[u64]) {
        if let Some(value) = immediates::of_block(tag, fields) {
            self.immediates.count(value);
        }
    }

    #[inline]
    fn fields<D: Details>(&mut self, address: u64, tag: u8, fields: &[u64], details: &mut D) {
        let first = self.runtime.first_value(tag, fields);
        for word in &fields[first..] {
            self.point(*word);
        }
        if tag == tag::CONTINUATION && self.runtime.continuations {
            details.continuation(address, fields, &mut |value| self.point(value));
        }
    }

    /// Takes note of a block in a region whose blocks have to be found by pointers.
    #[inline]
    fn point(&mut self, value: u64) {
        if is_pointer(value) && self.reached.may_hold(value) {
            self.reach(value);
        }
    }

    fn reach(&mut self, value: u64) {
        let regions = self.regions;
        let Some(region) =
            region_of(regions, value).filter(|region| region.layout == Layout::Reached)
        else {
            return;
        };
        let mut value = value;
        if region.block(value, self.runtime).is_some_and(|(header, _)| header.tag == tag::INFIX) {
            match enclosing(regions, value, &self.block_starts, self.runtime, &mut self.recent) {
                Some(base) => value = base,
                None => return,
            }
        }
        if region.block(value, self.runtime).is_some()
            && self.block_starts.set(value, &mut self.recent)
        {
            self.todo.push(value);
        }
    }
}

/// Megabytes of address space that hold blocks to be found by pointers: a quick look before the
/// search among regions.
#[derive(Debug)]
struct Reached {
    bits: Vec<u64>,
}

/// Bits of the quick look; addresses share them by their low megabytes.
const REACHED_BITS: u64 = 1 << 13;

impl Reached {
    fn new(regions: &[Region<'_>], any: bool) -> Self {
        let mut bits = vec![0u64; if any { (REACHED_BITS / 64) as usize } else { 0 }];
        for region in regions.iter().filter(|region| region.layout == Layout::Reached) {
            for megabyte in region.start >> 20..=region.end().saturating_sub(1) >> 20 {
                let bit = megabyte % REACHED_BITS;
                bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        Self { bits }
    }

    fn none(&self) -> bool {
        self.bits.is_empty()
    }

    #[inline]
    fn may_hold(&self, address: u64) -> bool {
        let bit = (address >> 20) % REACHED_BITS;
        self.bits.get((bit / 64) as usize).is_some_and(|bits| bits >> (bit % 64) & 1 != 0)
    }
}
