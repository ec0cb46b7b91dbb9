//! Which blocks: allocated in some range of time, live at some moment.

use crate::blocks::{Blocks, Row};
use crate::time::Elapsed;

/// A choice of blocks: those that meet both conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Allocated at this time or later …
    pub from: Elapsed,
    /// … and at this time or earlier.
    pub to: Elapsed,
    /// Live at this moment: allocated at or before it, and collected after it or never. At the
    /// trace's end these are the blocks that were never collected.
    pub live_at: Option<Elapsed>,
}

impl Selection {
    /// All blocks.
    pub const ALL: Self = Self { from: Elapsed(0), to: Elapsed(u64::MAX), live_at: None };

    /// The blocks that are live at a moment.
    pub const fn live_at(moment: Elapsed) -> Self {
        Self { live_at: Some(moment), ..Self::ALL }
    }

    /// Whether a block is selected.
    pub fn holds(&self, blocks: &Blocks, row: Row) -> bool {
        let allocated = blocks.allocated(row);
        self.from <= allocated
            && allocated <= self.to
            && self.live_at.is_none_or(|moment| blocks.live_at(row, moment))
    }

    /// The selected blocks, in the order of the trace.
    pub fn rows<'a>(&'a self, blocks: &'a Blocks) -> impl Iterator<Item = Row> + 'a {
        blocks.rows().filter(|&row| self.holds(blocks, row))
    }
}
