//! Edges of a block with very many, in sections of their own: so an array takes no memory in proportion to its size.

use std::io::{self, Write};

use super::sections::Sections;
use crate::format::{CONSECUTIVE, FIXED_WIDTH, kind};
use memtrail_leb128::{put, zigzag};

/// Edges of a section.
pub(super) const MAX_EDGES: usize = 1 << 16;

/// A field, and the number of the block that it points to.
pub(super) type Edge = (u64, u32);

/// The section that is being made. Its memory is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct EdgeSection {
    raw: Vec<u8>,
    targets: Vec<u8>,
}

impl EdgeSection {
    /// Writes some edges of a block.
    pub(super) fn write<W: Write>(
        &mut self,
        block: u32,
        edges: &[Edge],
        sections: &mut Sections<W>,
    ) -> io::Result<()> {
        let (Some((first, _)), Some((last, _))) = (edges.first(), edges.last()) else {
            return Ok(());
        };
        let Self { raw, targets } = self;
        targets.clear();
        for (_, target) in edges {
            put(targets, zigzag(i64::from(*target) - i64::from(block)));
        }
        let mut form = 0;
        if last - first == edges.len() as u64 - 1 {
            form |= CONSECUTIVE;
        }
        if targets.len() > edges.len() * size_of::<u32>() {
            form |= FIXED_WIDTH;
            targets.clear();
            targets.extend(edges.iter().flat_map(|(_, target)| target.to_le_bytes()));
        }
        raw.clear();
        put(raw, edges.len() as u64);
        raw.push(form);
        if form & CONSECUTIVE == 0 {
            let mut expected = 0;
            for (field, _) in edges {
                put(raw, field - expected);
                expected = field + 1;
            }
        } else {
            put(raw, *first);
        }
        raw.extend_from_slice(targets);
        sections.section(kind::EDGES, 0, raw)
    }
}
