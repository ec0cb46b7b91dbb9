//! The blocks of one section, as columns.

use super::error::{Cause, Error};
use super::sections::Section;
use crate::format::{CONSECUTIVE, FIXED_WIDTH, SHAPE_FIELDS, SHORT_CODES, WITH_UNKNOWN};
use crate::space::Space;
use crate::tag;
use crate::units::{Address, BlockIndex, Bytes, Words};
use memtrail_leb128::{Cursor, unzigzag};

/// Tag and size that many blocks have.
#[derive(Clone, Copy, Debug)]
struct Shape {
    tag: u8,
    wosize: u64,
    mask: u32,
    edges: u32,
}

/// Blocks that follow each other in memory.
#[derive(Clone, Copy, Debug)]
struct Run {
    space: Space,
    slot: u64,
    address: u64,
    /// One more than the last block, counted from the section's first.
    end: u32,
}

/// What is decoded of blocks besides tags and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Nothing.
    #[cfg(feature = "analysis")]
    Sizes,
    /// What they point to.
    #[cfg(feature = "analysis")]
    Edges,
    /// That, and from which fields: eight bytes more for each pointer of a large block.
    Fields,
}

/// The blocks of one section. Its memory is used again for the next.
#[derive(Debug, Default)]
pub struct Columns {
    /// The number of the first block.
    pub first: BlockIndex,
    shapes: Vec<Shape>,
    /// For each block its shape.
    shape_of: Vec<u16>,
    /// For each block where its edges end in `targets`.
    ends: Vec<u32>,
    targets: Vec<u32>,
    /// For blocks of a shape of their own: shape's number, where its fields start in `fields`.
    apart: Vec<(u32, u32)>,
    fields: Vec<u64>,
    /// Closures and their functions, by place in the section.
    functions: Vec<(u32, u32)>,
    /// Custom blocks, their identifiers, and bytes outside the heap, 0 if unknown.
    customs: Vec<(u32, u32, u64)>,
    /// Custom blocks of which it is unknown how many bytes they have outside.
    unknown: Vec<u32>,
    runs: Vec<Run>,
    /// Blocks that do not stand where expected, and words between.
    gaps: Vec<(u32, u64)>,
    buffer: Vec<u8>,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'c> {
    /// Its number.
    pub index: BlockIndex,
    /// Its tag.
    pub tag: u8,
    /// Its size without header.
    pub wosize: Words,
    /// What its fields point to, in order.
    pub targets: &'c [u32],
}

impl Block<'_> {
    /// Its size with header.
    pub const fn size(&self) -> Words {
        size(self.tag, self.wosize.0)
    }

    /// Whether it stands for memory outside the heap that custom blocks share.
    pub const fn is_off_heap(&self) -> bool {
        self.tag == tag::OFF_HEAP && self.wosize.0 == 0
    }
}

/// The size of a block with its header, if it is one of the heap's.
const fn size(tag: u8, wosize: u64) -> Words {
    Words(if tag == tag::OFF_HEAP && wosize == 0 { 0 } else { wosize + 1 })
}

impl Columns {
    /// Room for a section's blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a section; blocks are numbered from `first`, and there are `blocks` in the file. If
    /// that is `cut` off, an edge to what is missing becomes one to the block itself, which changes
    /// nothing for what retains what.
    pub(crate) fn decode(
        &mut self,
        section: &Section<'_>,
        first: u32,
        (blocks, version): (u32, u16),
        cut: bool,
        detail: Detail,
    ) -> Result<(), Error> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let decoded = section.content(&mut buffer).and_then(|content| {
            self.first = BlockIndex(first);
            self.parse(content, section.count, (blocks, version), cut, detail)
                .ok_or(Cause::Table("blocks").at(section.offset))
        });
        self.buffer = buffer;
        decoded
    }

    fn parse(
        &mut self,
        content: &[u8],
        count: u32,
        (blocks, version): (u32, u16),
        cut: bool,
        detail: Detail,
    ) -> Option<()> {
        self.clear();
        let mut cursor = Cursor::new(content);
        let edges = cursor.count()?;
        let mut end = 0u32;
        for _ in 0..cursor.count()? {
            let space = *Space::ALL.get(usize::from(cursor.byte()?))?;
            let (slot, address) = (cursor.number()?, cursor.number()?);
            end = end.checked_add(u32::try_from(cursor.number()?).ok()?)?;
            self.runs.push(Run { space, slot, address, end });
        }
        if end != count {
            return None;
        }
        // Shape 0 marks blocks of a shape of their own.
        self.shapes.push(Shape { tag: 0, wosize: 0, mask: 0, edges: 0 });
        for _ in 0..cursor.count()? {
            let tag = cursor.byte()?;
            let wosize = cursor.number()?;
            let mask = u32::try_from(cursor.number()?).ok()?;
            if wosize > SHAPE_FIELDS || u64::from(mask) >> wosize != 0 {
                return None;
            }
            self.shapes.push(Shape { tag, wosize, mask, edges: mask.count_ones() });
        }
        let lengths = [cursor.count()?, cursor.count()?, cursor.count()?, cursor.count()?];
        let mut part = |which: usize| cursor.take(lengths[which]);
        let (codes, targets, extras, gaps) = (part(0)?, part(1)?, part(2)?, part(3)?);
        self.codes(codes, extras, count, version, detail)?;
        if self.ends.last().copied().unwrap_or(0) as usize != edges {
            return None;
        }
        #[cfg(feature = "analysis")]
        let without = detail == Detail::Sizes;
        #[cfg(not(feature = "analysis"))]
        let without = false;
        if !without {
            self.targets(targets, blocks, cut)?;
        }
        self.gaps(gaps, count)
    }

    /// Decodes a section of edges of the only block.
    pub(super) fn decode_edges(
        &mut self,
        section: &Section<'_>,
        blocks: u32,
        cut: bool,
        detail: Detail,
    ) -> Result<(), Error> {
        #[cfg(feature = "analysis")]
        if detail == Detail::Sizes {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let decoded = section.content(&mut buffer).and_then(|content| {
            self.more_edges(content, blocks, cut, detail)
                .ok_or(Cause::Table("edges").at(section.offset))
        });
        self.buffer = buffer;
        decoded
    }

    fn more_edges(&mut self, content: &[u8], blocks: u32, cut: bool, detail: Detail) -> Option<()> {
        let ([end], [code], [_]) = (&mut self.ends[..], &self.shape_of[..], &self.apart[..]) else {
            return None;
        };
        let shape = self.shapes.get_mut(usize::from(*code)).filter(|shape| shape.mask == 0)?;
        let mut cursor = Cursor::new(content);
        let count = cursor.count()?;
        *end = end.checked_add(u32::try_from(count).ok()?)?;
        shape.edges = *end;
        let form = cursor.byte()?;
        if form & CONSECUTIVE == 0 {
            let mut expected = 0u64;
            for _ in 0..count {
                let field = expected.checked_add(cursor.number()?)?;
                expected = field.checked_add(1)?;
                if detail == Detail::Fields {
                    self.fields.push(field);
                }
            }
        } else {
            let first = cursor.number()?;
            let end = first.checked_add(count as u64)?;
            if detail == Detail::Fields {
                self.fields.extend(first..end);
            }
        }
        self.targets.reserve(count);
        for _ in 0..count {
            let target = if form & FIXED_WIDTH == 0 {
                i64::from(self.first.0).checked_add(unzigzag(cursor.number()?))?
            } else {
                i64::from(u32::from_le_bytes(*cursor.take(size_of::<u32>())?.first_chunk()?))
            };
            match u32::try_from(target) {
                Ok(target) if target < blocks => self.targets.push(target),
                Ok(_) if cut => self.targets.push(self.first.0),
                _ => return None,
            }
        }
        (cursor.left() == 0).then_some(())
    }

    fn clear(&mut self) {
        self.shapes.clear();
        self.shape_of.clear();
        self.ends.clear();
        self.targets.clear();
        self.apart.clear();
        self.fields.clear();
        self.functions.clear();
        self.customs.clear();
        self.unknown.clear();
        self.runs.clear();
        self.gaps.clear();
    }

    fn codes(
        &mut self,
        codes: &[u8],
        extras: &[u8],
        count: u32,
        version: u16,
        detail: Detail,
    ) -> Option<()> {
        let mut codes = Cursor::new(codes);
        let mut extras = Cursor::new(extras);
        if count as usize > codes.left() {
            return None;
        }
        let told = self.shapes.len() as u32;
        let mut end = 0u32;
        for block in 0..count {
            let mut code = u32::from(codes.byte()?);
            if code >= SHORT_CODES {
                code = SHORT_CODES + (code - SHORT_CODES) * 256 + u32::from(codes.byte()?);
            }
            if code == 0 {
                code = self.apart(&mut extras, detail)?;
            } else if code >= told {
                return None;
            }
            let shape = self.shapes.get(code as usize)?;
            end = end.checked_add(shape.edges)?;
            match shape.tag {
                tag::CLOSURE => {
                    let function = u32::try_from(extras.number()?).ok()?;
                    self.functions.push((block, function));
                }
                tag::OFF_HEAP if version < WITH_UNKNOWN || shape.wosize > 0 => {}
                tag::CUSTOM | tag::OFF_HEAP => {
                    let identifier = u32::try_from(extras.number()?).ok()?;
                    let mut bytes = extras.number()?;
                    if version >= WITH_UNKNOWN {
                        if bytes == 0 {
                            self.unknown.push(block);
                        }
                        bytes = bytes.saturating_sub(1);
                    }
                    self.customs.push((block, identifier, bytes));
                }
                _ => {}
            }
            self.shape_of.push(u16::try_from(code).ok()?);
            self.ends.push(end);
        }
        (codes.left() == 0 && extras.left() == 0).then_some(())
    }

    /// A block that is distinguished gets a shape of its own.
    fn apart(&mut self, extras: &mut Cursor<'_>, detail: Detail) -> Option<u32> {
        let tag = extras.byte()?;
        let wosize = extras.number()?;
        let edges = extras.count()?;
        let number = self.shapes.len() as u32;
        self.apart.push((number, self.fields.len() as u32));
        let mut expected = 0u64;
        for _ in 0..edges {
            let field = expected.checked_add(extras.number()?)?;
            expected = field.checked_add(1)?;
            if detail == Detail::Fields {
                self.fields.push(field);
            }
        }
        self.shapes.push(Shape { tag, wosize, mask: 0, edges: edges as u32 });
        // A size that no address space holds would make sums of sizes run over.
        (wosize < 1 << 54).then_some(number)
    }

    fn targets(&mut self, targets: &[u8], blocks: u32, cut: bool) -> Option<()> {
        let mut cursor = Cursor::new(targets);
        self.targets.reserve(self.ends.last().copied().unwrap_or(0) as usize);
        let mut start = 0;
        for (index, end) in (i64::from(self.first.0)..).zip(&self.ends) {
            for _ in start..*end {
                let target = index.checked_add(unzigzag(cursor.number()?))?;
                match u32::try_from(target) {
                    Ok(target) if target < blocks => self.targets.push(target),
                    Ok(_) if cut => self.targets.push(index as u32),
                    _ => return None,
                }
            }
            start = *end;
        }
        (cursor.left() == 0).then_some(())
    }

    fn gaps(&mut self, gaps: &[u8], count: u32) -> Option<()> {
        let mut cursor = Cursor::new(gaps);
        let mut at = 0u32;
        while cursor.left() > 0 {
            at = at.checked_add(u32::try_from(cursor.number()?).ok()?)?;
            self.gaps.push((at, cursor.number()?));
        }
        (at < count.max(1)).then_some(())
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The block at a place of the section.
    #[inline]
    pub fn get(&self, place: usize) -> Option<Block<'_>> {
        let shape = self.shapes.get(usize::from(*self.shape_of.get(place)?))?;
        let end = *self.ends.get(place)? as usize;
        let targets = self.targets.get(end - shape.edges as usize..end)?;
        let index = BlockIndex(self.first.0 + place as u32);
        Some(Block { index, tag: shape.tag, wosize: Words(shape.wosize), targets })
    }

    /// All blocks' sizes.
    #[cfg(feature = "analysis")]
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (BlockIndex, Words)> {
        (self.first.0..).zip(&self.shape_of).map(|(block, shape)| {
            let shape = self.shapes.get(usize::from(*shape));
            (BlockIndex(block), shape.map_or(Words(0), |shape| size(shape.tag, shape.wosize)))
        })
    }

    /// All blocks.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Block<'_>> {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Whether any block has so many fields or more.
    #[cfg(feature = "analysis")]
    pub(crate) fn has_larger_than(&self, wosize: u64) -> bool {
        self.shapes.iter().any(|shape| shape.wosize >= wosize)
    }

    /// All edges: from the first block on, what each points to.
    pub fn edges(&self) -> &[u32] {
        &self.targets
    }

    /// The numbers of the fields that [`Block::targets`] are in. From the size on, they are values
    /// on the stack of a continuation.
    pub fn fields(&self, place: usize) -> Fields<'_> {
        let code = self.shape_of.get(place).copied().unwrap_or(0);
        let shape = self.shapes.get(usize::from(code));
        // Those of most blocks are in the mask of their shape.
        if let Some(shape) = shape.filter(|shape| shape.mask != 0 || shape.edges == 0) {
            return Fields { mask: shape.mask, fields: &[] };
        }
        let apart = self.apart.binary_search_by_key(&u32::from(code), |(number, _)| *number);
        match (apart, shape) {
            (Ok(at), Some(shape)) => {
                let start = self.apart[at].1 as usize;
                let fields = self.fields.get(start..start + shape.edges as usize).unwrap_or(&[]);
                Fields { mask: 0, fields }
            }
            (_, shape) => Fields { mask: shape.map_or(0, |shape| shape.mask), fields: &[] },
        }
    }

    /// How many shapes blocks have.
    #[cfg(feature = "analysis")]
    pub(crate) fn shapes(&self) -> usize {
        self.shapes.len()
    }

    /// The number of a block's shape. Blocks of one shape have the same tag and size, and the same fields of
    /// theirs are pointers.
    #[cfg(feature = "analysis")]
    #[inline]
    pub(crate) fn shape(&self, place: usize) -> usize {
        usize::from(self.shape_of.get(place).copied().unwrap_or(0))
    }

    /// The closures and their functions, as numbers in the file's table.
    pub fn closures(&self) -> impl Iterator<Item = (usize, u32)> {
        self.functions.iter().map(|(place, function)| (*place as usize, *function))
    }

    /// The function of the closure at a place of the section.
    pub fn function(&self, place: usize) -> Option<u32> {
        let at = self.functions.binary_search_by_key(&place, |(at, _)| *at as usize).ok()?;
        self.functions.get(at).map(|(_, function)| *function)
    }

    /// The places of all closures in the section, in order, and their functions.
    pub fn functions(&self) -> impl Iterator<Item = (usize, u32)> {
        self.functions.iter().map(|(at, function)| (*at as usize, *function))
    }

    /// How much memory the blocks take.
    pub fn memory(&self) -> Bytes {
        let of = |length: usize, size: usize| (length * size) as u64;
        Bytes(
            of(self.shape_of.len(), 2)
                + of(self.ends.len() + self.targets.len(), 4)
                + of(self.fields.len() + self.functions.len() + self.apart.len(), 8)
                + of(self.customs.len() + self.gaps.len() + self.shapes.len(), 24),
        )
    }

    /// Gives back memory that the blocks do not take.
    pub fn shrink(&mut self) {
        self.buffer = Vec::new();
        self.targets.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.shape_of.shrink_to_fit();
        self.fields.shrink_to_fit();
    }

    /// The custom blocks and those that stand for shared memory outside the heap, their identifiers
    /// as numbers in the file's table, and bytes outside the heap that go with them: 0 if unknown.
    pub fn customs(&self) -> impl Iterator<Item = (usize, u32, u64)> {
        self.customs.iter().map(|(place, identifier, bytes)| (*place as usize, *identifier, *bytes))
    }

    /// Those of them of which it is unknown how many bytes outside the heap go with them.
    pub fn unknown(&self) -> impl Iterator<Item = usize> {
        self.unknown.iter().map(|place| *place as usize)
    }

    /// Which space each block is in: spaces, and one more than the last place of each.
    pub fn spaces(&self) -> impl Iterator<Item = (Space, usize)> {
        self.runs.iter().map(|run| (run.space, run.end as usize))
    }

    /// Words between the first and the last block of each run that are no block, by space.
    pub fn between(&self) -> impl Iterator<Item = (Space, Words)> {
        self.gaps.iter().map(|(place, words)| {
            let run = self.runs.iter().find(|run| *place < run.end);
            let slot = run.map_or(1, |run| run.slot.max(1));
            (run.map_or(Space::Major, |run| run.space), Words(words.saturating_mul(slot)))
        })
    }

    /// The addresses of all blocks (of their first fields), in order.
    pub fn addresses(&self) -> impl Iterator<Item = Address> {
        let mut runs = self.runs.iter();
        let mut run = runs.next();
        let mut gaps = self.gaps.iter().peekable();
        let mut next = run.map_or(0, |run| run.address);
        (0..self.len()).map(move |place| {
            while let Some(current) = run
                && place >= current.end as usize
            {
                run = runs.next();
                next = run.map_or(0, |run| run.address);
            }
            let slot = run.map_or(0, |run| run.slot);
            if let Some((_, words)) = gaps.next_if(|(at, _)| *at as usize == place) {
                next = next.wrapping_add(words.wrapping_mul(slot.max(1)).wrapping_mul(8));
            }
            let at = next;
            let words = match slot {
                0 => self.get(place).map_or(0, |block| block.size().0),
                slot => slot,
            };
            next = next.wrapping_add(words.wrapping_mul(8));
            Address(at.wrapping_add(8))
        })
    }
}

/// Numbers of fields.
#[derive(Clone, Debug)]
pub struct Fields<'c> {
    mask: u32,
    fields: &'c [u64],
}

impl Iterator for Fields<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.mask != 0 {
            let field = self.mask.trailing_zeros();
            self.mask &= self.mask - 1;
            return Some(u64::from(field));
        }
        let (first, rest) = self.fields.split_first()?;
        self.fields = rest;
        Some(*first)
    }
}
