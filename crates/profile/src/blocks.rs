//! The sampled blocks of a trace, a row each, in columns.
//!
//! | column | bytes a block |
//! |---|---|
//! | allocated, promoted, collected | 6 + 6 + 6 |
//! | stack | 4 |
//! | length | 4, longer blocks in a table |
//! | samples | 2, higher numbers in a table |
//! | source | 1 |
//! | order of collection | 4, if it was collected |
//! | order of allocation | 4, only if the trace has several domains |
//!
//! 37 bytes at most; the table of backtraces comes on top, at 8 bytes and more a *distinct* call
//! path, and 2 to 8 while a report is made.

use memtrail_trace::{Source, StackId, Words};
use rustc_hash::FxHashMap;

use crate::time::{Elapsed, Packed};

/// A sampled block: its row in [`Blocks`]. Rows stand in the order of the trace, which is that of
/// allocation within a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(pub u32);

/// All sampled blocks.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    allocated: Vec<Packed>,
    promoted: Vec<Packed>,
    collected: Vec<Packed>,
    stacks: Vec<StackId>,
    lengths: Vec<u32>,
    samples: Vec<u16>,
    sources: Vec<Source>,
    /// Lengths that do not fit, by row. Their cell holds the highest number.
    long: FxHashMap<u32, u64>,
    /// Numbers of samples that do not fit, likewise.
    many: FxHashMap<u32, u64>,
    /// Collected blocks, the first collected first.
    by_collection: Vec<Row>,
    /// All blocks, the first allocated first; `None` if the rows stand so.
    by_allocation: Option<Vec<Row>>,
}

/// A block to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// When it was allocated.
    pub time: Elapsed,
    /// Its size, header not counted.
    pub length: Words,
    /// How many of its words were sampled.
    pub samples: u64,
    /// Where it was allocated.
    pub source: Source,
    /// By which calls.
    pub stack: StackId,
}

impl Blocks {
    /// The most blocks there can be; row numbers have 32 bits.
    pub const MOST: usize = u32::MAX as usize;

    /// How many there are.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// All rows, in the order of the trace.
    pub fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        (0..self.len() as u32).map(Row)
    }

    /// When a block was allocated.
    pub fn allocated(&self, row: Row) -> Elapsed {
        self.allocated[row.0 as usize].time()
    }

    /// When a block moved to the major heap, if it did.
    pub fn promoted(&self, row: Row) -> Option<Elapsed> {
        self.promoted[row.0 as usize].get()
    }

    /// When a block was found dead, if it was. Not before it was allocated.
    pub fn collected(&self, row: Row) -> Option<Elapsed> {
        self.collected[row.0 as usize].get()
    }

    /// Whether a block was there after all that happened until `time`.
    pub fn live_at(&self, row: Row, time: Elapsed) -> bool {
        // `NEVER` is later than any time.
        self.allocated(row) <= time && self.collected[row.0 as usize].time() > time
    }

    /// Which calls allocated a block.
    pub fn stack(&self, row: Row) -> StackId {
        self.stacks[row.0 as usize]
    }

    /// The size of a block, header not counted.
    pub fn length(&self, row: Row) -> Words {
        Words(match self.lengths[row.0 as usize] {
            u32::MAX => self.long.get(&row.0).copied().unwrap_or(u32::MAX.into()),
            length => length.into(),
        })
    }

    /// How many of a block's words were sampled.
    pub fn samples(&self, row: Row) -> u64 {
        match self.samples[row.0 as usize] {
            u16::MAX => self.many.get(&row.0).copied().unwrap_or(u16::MAX.into()),
            samples => samples.into(),
        }
    }

    /// Where a block was allocated.
    pub fn source(&self, row: Row) -> Source {
        self.sources[row.0 as usize]
    }

    /// All blocks, the first allocated first.
    pub fn by_allocation(&self) -> impl Iterator<Item = Row> + '_ {
        let sorted = self.by_allocation.as_deref();
        (0..self.len()).map(move |at| sorted.map_or(Row(at as u32), |rows| rows[at]))
    }

    /// The collected blocks, the first collected first.
    pub fn by_collection(&self) -> &[Row] {
        &self.by_collection
    }

    /// Bytes that the columns occupy, spare room not counted.
    pub fn memory(&self) -> usize {
        let each = 3 * size_of::<Packed>() + size_of::<StackId>() + 4 + 2 + size_of::<Source>();
        let orders = self.by_collection.len() + self.by_allocation.as_ref().map_or(0, Vec::len);
        // A hash table keeps room for more than it holds, and a byte a slot.
        let tables = 2 * (self.long.len() + self.many.len()) * (size_of::<(u32, u64)>() + 1);
        self.len() * each + orders * size_of::<Row>() + tables
    }

    pub(crate) fn push(&mut self, block: &Block) -> Row {
        let row = self.len() as u32;
        self.allocated.push(Packed::new(block.time));
        self.promoted.push(Packed::NEVER);
        self.collected.push(Packed::NEVER);
        self.stacks.push(block.stack);
        self.lengths.push(narrow(block.length.0, u32::MAX, &mut self.long, row));
        self.samples.push(narrow(block.samples, u16::MAX, &mut self.many, row));
        self.sources.push(block.source);
        Row(row)
    }

    pub(crate) fn set_promoted(&mut self, row: Row, time: Elapsed) {
        self.promoted[row.0 as usize] = Packed::new(time);
    }

    pub(crate) fn set_collected(&mut self, row: Row, time: Elapsed) {
        self.collected[row.0 as usize] = Packed::new(time);
        self.by_collection.push(row);
    }

    /// Puts the rows into the orders of time. Stable sorts are fast on what is nearly sorted.
    pub(crate) fn sort(&mut self) {
        let (allocated, collected) = (&self.allocated, &self.collected);
        let end = |row: &Row| collected[row.0 as usize].time();
        if !self.by_collection.is_sorted_by_key(end) {
            self.by_collection.sort_by_key(end);
        }
        if !allocated.is_sorted_by_key(|time| time.time()) {
            let mut rows: Vec<Row> = (0..allocated.len() as u32).map(Row).collect();
            rows.sort_by_key(|row| allocated[row.0 as usize].time());
            self.by_allocation = Some(rows);
        }
        self.by_collection.shrink_to_fit();
    }
}

/// The number in a narrow cell, or the highest one, which sends readers to the table.
fn narrow<N>(number: u64, highest: N, table: &mut FxHashMap<u32, u64>, row: u32) -> N
where
    N: Copy + TryFrom<u64>,
    u64: From<N>,
{
    if number < u64::from(highest)
        && let Ok(narrow) = N::try_from(number)
    {
        return narrow;
    }
    table.insert(row, number);
    highest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back() {
        let mut blocks = Blocks::default();
        let sizes = [0, 1, 65_534, 65_535, 65_536, u64::from(u32::MAX), 1 << 40, u64::MAX];
        for size in sizes {
            let row = blocks.push(&Block {
                time: Elapsed(size),
                length: Words(size),
                samples: size,
                source: Source::Major,
                stack: StackId(7),
            });
            assert_eq!((blocks.length(row), blocks.samples(row)), (Words(size), size));
        }
        assert_eq!(blocks.len(), sizes.len());
    }
}
