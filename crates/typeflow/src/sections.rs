//! Blocks with their fields, decoded section by section and kept while there is room.

use hashbrown::HashMap;
use memtrail_heap::read::{Columns, DecodedSections, Error, Snapshot};
use memtrail_heap::{BlockIndex, Bytes};
use rustc_hash::FxBuildHasher;

/// The sections of a snapshot.
pub(crate) struct Sections<'s, 'a> {
    pub(crate) snapshot: &'s Snapshot<'a>,
    pub(crate) decoded: DecodedSections,
    /// Bytes that decoded sections may take.
    room: u64,
    /// For sections that there is no room for.
    spare: Option<Box<Columns>>,
    /// Fields of static blocks that the snapshot has as roots, not as edges.
    roots_in: HashMap<u32, Vec<(u64, u32)>, FxBuildHasher>,
}

impl<'s, 'a> Sections<'s, 'a> {
    pub(crate) fn new(snapshot: &'s Snapshot<'a>, room: Bytes) -> Self {
        let mut roots_in: HashMap<u32, Vec<(u64, u32)>, FxBuildHasher> = HashMap::default();
        for root in &snapshot.roots {
            if let Some((block, field)) = root.field_of {
                roots_in.entry(block.0).or_default().push((field, root.block.0));
            }
        }
        Self {
            snapshot,
            decoded: DecodedSections::new(snapshot.sections()),
            room: room.0,
            spare: None,
            roots_in,
        }
    }

    /// The section that a block is in.
    #[inline]
    pub(crate) fn of(&self, block: u32) -> usize {
        self.snapshot.section_of(BlockIndex(block)).unwrap_or(0)
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
        if let Some(roots) = self.roots_in.get(&block.index.0) {
            for (field, target) in roots {
                each(*field, *target);
            }
        }
    }
}
