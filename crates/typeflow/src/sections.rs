//! Blocks with their fields, decoded section by section and kept while there is room.

use hashbrown::HashMap;
use memtrail_heap::read::{Columns, DecodedSections, Error, Snapshot};
use memtrail_heap::{BlockIndex, Bytes};
use rustc_hash::FxBuildHasher;

/// The sections of a snapshot.
pub(crate) struct Sections<'s, 'a> {
    pub(crate) snapshot: &'s Snapshot<'a>,
    decoded: DecodedSections,
    /// Bytes that decoded sections may take.
    room: u64,
    /// For sections that there is no room for.
    spare: Option<Box<Columns>>,
    /// Fields of static blocks that the snapshot has as roots, not as edges.
    roots_in: HashMap<u32, Vec<(u64, u32)>, FxBuildHasher>,
    /// A bit for each block: whether it is one of these.
    has_roots: Vec<u64>,
    /// The section of every 1024th block, from where that of a block is not far.
    coarse: Vec<u32>,
}

/// Blocks for each entry of [`Sections::coarse`], as a power of two.
const COARSE: u32 = 10;

impl<'s, 'a> Sections<'s, 'a> {
    pub(crate) fn new(snapshot: &'s Snapshot<'a>, room: Bytes) -> Self {
        let mut roots_in: HashMap<u32, Vec<(u64, u32)>, FxBuildHasher> = HashMap::default();
        for root in &snapshot.roots {
            if let Some((block, field)) = root.field_of {
                roots_in.entry(block.0).or_default().push((field, root.block.0));
            }
        }
        let blocks = snapshot.blocks();
        let mut has_roots = vec![0; blocks.div_ceil(u64::BITS) as usize];
        for block in roots_in.keys() {
            if let Some(bits) = has_roots.get_mut((block / u64::BITS) as usize) {
                *bits |= 1 << (block % u64::BITS);
            }
        }
        let some = (0..blocks).step_by(1 << COARSE);
        let coarse = some.map(|block| snapshot.section_of(BlockIndex(block)).unwrap_or(0) as u32);
        Self {
            snapshot,
            decoded: DecodedSections::new(snapshot.sections()),
            room: room.0,
            spare: None,
            roots_in,
            has_roots,
            coarse: coarse.collect(),
        }
    }

    /// The section that a block is in.
    #[inline]
    pub(crate) fn of(&self, block: u32) -> usize {
        let coarse = self.coarse.get((block >> COARSE) as usize);
        let mut section = coarse.map_or(0, |section| *section as usize);
        // Behind the last section, this is the number of blocks.
        while self.snapshot.first_of(section + 1).0 <= block
            && section + 1 < self.snapshot.sections()
        {
            section += 1;
        }
        section
    }

    /// A section's blocks; to be given back with [`Sections::put`].
    pub(crate) fn take(&mut self, section: usize) -> Result<Box<Columns>, Error> {
        if let Some(columns) = self.decoded.take(section) {
            return Ok(columns);
        }
        let mut columns = self.spare.take().unwrap_or_default();
        self.snapshot.decode(section, &mut columns)?;
        Ok(columns)
    }

    /// Keeps a section's blocks if there is room. What is kept first stays: sections are asked for in rounds, so
    /// the one that was used longest ago is the next one that is needed.
    pub(crate) fn put(&mut self, section: usize, mut columns: Box<Columns>, was_kept: bool) {
        if !was_kept {
            let size = columns.memory().0;
            if size > self.room {
                self.spare = Some(columns);
                return;
            }
            self.room -= size;
            columns.shrink();
        }
        self.decoded.put(section, columns);
    }

    /// Whether a section is kept.
    pub(crate) fn is_kept(&self, section: usize) -> bool {
        self.decoded.get(section).is_some()
    }

    /// Calls `each` with a block's fields that point to blocks, and these.
    #[inline]
    pub(crate) fn edges(&self, columns: &Columns, place: usize, mut each: impl FnMut(u64, u32)) {
        let Some(block) = columns.get(place) else { return };
        if !block.targets.is_empty() {
            for (field, target) in columns.fields(place).zip(block.targets) {
                each(field, *target);
            }
        }
        let index = block.index.0;
        let bits = self.has_roots.get((index / u64::BITS) as usize).copied().unwrap_or(0);
        if bits & (1 << (index % u64::BITS)) != 0
            && let Some(roots) = self.roots_in.get(&index)
        {
            for (field, target) in roots {
                each(*field, *target);
            }
        }
    }
}
