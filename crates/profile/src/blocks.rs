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
//! | domain | 2, only if the trace has several |
//! | rate | 1, only if it changed |
//! | order of allocation | 4, likewise |
//!
//! 40 bytes at most; the table of backtraces comes on top, at 8 bytes and more a *distinct* call
//! path, and 2 to 8 while a report is made.

use std::ops::Range;

use memtrail_trace::rates::MAX_HALVINGS;
use memtrail_trace::{DomainId, Source, StackId, Words};
use rustc_hash::FxHashMap;

use crate::time::{Elapsed, NEVER, Times, TimesPart};

/// A sampled block: its row in [`Blocks`]. Rows are in the order of the trace, which is that of
/// allocation within a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(pub u32);

/// All sampled blocks.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    allocated: Times,
    promoted: Times,
    collected: Times,
    stacks: Vec<StackId>,
    lengths: Vec<u32>,
    samples: Vec<u16>,
    sources: Vec<Source>,
    /// Of the first block, and of all if `domains` is empty.
    domain: DomainId,
    domains: Vec<DomainId>,
    /// How often the trace's rate was halved; empty if it never was.
    halvings: Vec<u8>,
    /// Allocation of the last block whose history may have been thinned.
    thinned_until: Option<Elapsed>,
    /// Lengths that do not fit, by row. Their cell holds the highest number.
    long: FxHashMap<u32, u64>,
    /// Numbers of samples that do not fit, likewise.
    many: FxHashMap<u32, u64>,
    /// Collected blocks, the first collected first.
    by_collection: Vec<Row>,
    collections: Disorder,
    /// All blocks, the first allocated first; `None` if the rows stand so.
    by_allocation: Option<Vec<Row>>,
    allocations: Disorder,
}

/// How far a column of rows is in the order of time.
#[derive(Clone, Copy, Debug, Default)]
struct Disorder {
    /// Rows that have been put in order.
    sorted: usize,
    /// The latest time among all rows.
    latest: Elapsed,
    /// The earliest time that stands behind a later one.
    from: Option<Elapsed>,
}

impl Disorder {
    fn add(&mut self, time: Elapsed) {
        if time < self.latest {
            self.from = Some(self.from.map_or(time, |from| from.min(time)));
        } else {
            self.latest = time;
        }
    }

    /// Puts new rows among the old ones. Only those after the earliest one out of order move.
    fn mend(&mut self, rows: &mut [Row], time: impl Fn(Row) -> Elapsed) {
        if let Some(from) = self.from.take() {
            let keep = rows[..self.sorted].partition_point(|&row| time(row) <= from);
            rows[keep..].sort_by_key(|&row| time(row));
        }
        self.sorted = rows.len();
    }
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
    /// Domain that allocated it.
    pub domain: DomainId,
}

impl Blocks {
    /// The most blocks there can be; row numbers have 32 bits.
    pub const MAX_BLOCKS: usize = u32::MAX as usize;

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
        Elapsed(self.allocated.at(row.0 as usize))
    }

    /// When a block moved to the major heap, if it did.
    pub fn promoted(&self, row: Row) -> Option<Elapsed> {
        self.promoted.get(row.0 as usize)
    }

    /// When a block was found dead, if it was. Not before it was allocated.
    pub fn collected(&self, row: Row) -> Option<Elapsed> {
        self.collected.get(row.0 as usize)
    }

    /// Whether a block was there after all that happened until `time`.
    pub fn live_at(&self, row: Row, time: Elapsed) -> bool {
        // `NEVER` is later than any time.
        self.allocated(row) <= time && self.collected.at(row.0 as usize) > time.0
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

    /// The part of memory that a block was collected in, if it was: promotion moves it to the major heap.
    pub(crate) fn place_of_collection(&self, row: Row) -> Source {
        match self.source(row) {
            Source::Minor if self.promoted(row).is_some() => Source::Major,
            source => source,
        }
    }

    /// Which domain allocated a block.
    pub fn domain(&self, row: Row) -> DomainId {
        self.domains.get(row.0 as usize).copied().unwrap_or(self.domain)
    }

    /// How often the trace's rate was halved when a block was sampled.
    pub fn halvings(&self, row: Row) -> u8 {
        self.halvings.get(row.0 as usize).copied().unwrap_or(0)
    }

    /// Whether the rate was halved for any block.
    pub fn are_adapted(&self) -> bool {
        !self.halvings.is_empty()
    }

    /// The last block that came was sampled at the trace's rate, halved so often.
    pub(crate) fn set_halvings_of_last(&mut self, halvings: u8) {
        if halvings > 0 || self.are_adapted() {
            self.halvings.resize(self.len().saturating_sub(1), 0);
            self.halvings.push(halvings.min(MAX_HALVINGS));
        }
    }

    /// The time up to which the history of the recording was thinned: of blocks that died, some are missing, and the others
    /// count for them.
    pub fn thinned_until(&self) -> Option<Elapsed> {
        self.thinned_until
    }

    /// Blocks up to a time may have been thinned.
    pub(crate) fn note_thinned(&mut self, until: Option<Elapsed>) {
        self.thinned_until = self.thinned_until.max(until);
    }

    /// The domains that allocated blocks, in the order of their numbers.
    pub fn domains(&self) -> Vec<DomainId> {
        let mut seen = vec![false; 1 << 16];
        if !self.is_empty() {
            seen[usize::from(self.domain.0)] = true;
        }
        for domain in &self.domains {
            seen[usize::from(domain.0)] = true;
        }
        (0..=u16::MAX).filter(|&domain| seen[usize::from(domain)]).map(DomainId).collect()
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
        let each = 3 * Times::BYTES + size_of::<StackId>() + 4 + 2 + size_of::<Source>();
        let orders = self.by_collection.len() + self.by_allocation.as_ref().map_or(0, Vec::len);
        let domains = self.domains.len() * size_of::<DomainId>() + self.halvings.len();
        // A hash table keeps room for more than it holds, and a byte a slot.
        let tables = 2 * (self.long.len() + self.many.len()) * (size_of::<(u32, u64)>() + 1);
        self.len() * each + orders * size_of::<Row>() + domains + tables
    }

    pub(crate) fn push(&mut self, block: &Block) -> Row {
        let row = self.len() as u32;
        self.allocated.push(block.time.min(Elapsed::LAST).0);
        self.promoted.push(NEVER);
        self.collected.push(NEVER);
        self.stacks.push(block.stack);
        self.lengths.push(narrow(block.length.0, u32::MAX, &mut self.long, row));
        self.samples.push(narrow(block.samples, u16::MAX, &mut self.many, row));
        self.sources.push(block.source);
        if row == 0 {
            self.domain = block.domain;
        } else if self.domains.is_empty() && block.domain != self.domain {
            self.domains.resize(row as usize, self.domain);
        }
        if !self.domains.is_empty() || (row > 0 && block.domain != self.domain) {
            self.domains.push(block.domain);
        }
        self.allocations.add(block.time.min(Elapsed::LAST));
        Row(row)
    }

    pub(crate) fn set_promoted(&mut self, row: Row, time: Elapsed) {
        self.promoted.set(row.0 as usize, time);
    }

    pub(crate) fn set_collected(&mut self, row: Row, time: Elapsed) {
        self.collected.set(row.0 as usize, time);
        self.by_collection.push(row);
        self.collections.add(time.min(Elapsed::LAST));
    }

    /// Puts the rows that have come since the last time into the orders of time.
    pub(crate) fn sort(&mut self) {
        let collected = &self.collected;
        self.collections.mend(&mut self.by_collection, |row| Elapsed(collected.at(row.0 as usize)));
        if self.by_allocation.is_none() && self.allocations.from.is_some() {
            self.by_allocation = Some(Vec::new());
        }
        let (allocated, all) = (&self.allocated, self.stacks.len() as u32);
        if let Some(rows) = &mut self.by_allocation {
            rows.extend((rows.len() as u32..all).map(Row));
            self.allocations.mend(rows, |row| Elapsed(allocated.at(row.0 as usize)));
        }
    }

    /// Gives back spare room, when no more blocks will come.
    pub(crate) fn shrink(&mut self) {
        let Self { allocated, promoted, collected, stacks, lengths, samples, .. } = self;
        for times in [allocated, promoted, collected] {
            times.shrink_to_fit();
        }
        stacks.shrink_to_fit();
        lengths.shrink_to_fit();
        samples.shrink_to_fit();
        self.sources.shrink_to_fit();
        self.domains.shrink_to_fit();
        self.halvings.shrink_to_fit();
        self.by_collection.shrink_to_fit();
    }

    /// The rows allocated at `time` or later, in the order of allocation.
    pub(crate) fn allocated_from(&self, time: Elapsed) -> impl Iterator<Item = Row> + '_ {
        let sorted = self.by_allocation.as_deref();
        let from = match sorted {
            Some(rows) => rows.partition_point(|&row| self.allocated(row) < time),
            None => self.allocated.first_from(time.0),
        };
        (from..self.len()).map(move |at| sorted.map_or(Row(at as u32), |rows| rows[at]))
    }

    /// The rows collected at `time` or later, in the order of collection.
    pub(crate) fn collected_from(&self, time: Elapsed) -> &[Row] {
        let at = |row: &Row| self.collected.at(row.0 as usize);
        let from = self.by_collection.partition_point(|row| at(row) < time.0);
        &self.by_collection[from..]
    }

    /// The columns of some rows, for passes over all of them.
    pub(crate) fn columns(&self, rows: Range<usize>) -> Columns<'_> {
        let domains = if self.domains.is_empty() { 0..0 } else { rows.clone() };
        let halvings = if self.halvings.is_empty() { 0..0 } else { rows.clone() };
        Columns {
            first: rows.start as u32,
            allocated: self.allocated.part(rows.clone()),
            promoted: self.promoted.part(rows.clone()),
            collected: self.collected.part(rows.clone()),
            stacks: &self.stacks[rows.clone()],
            lengths: &self.lengths[rows.clone()],
            samples: &self.samples[rows.clone()],
            sources: &self.sources[rows],
            domains: &self.domains[domains],
            halvings: &self.halvings[halvings],
            blocks: self,
        }
    }
}

/// Some rows of the columns.
pub(crate) struct Columns<'a> {
    pub(crate) first: u32,
    pub(crate) allocated: TimesPart<'a>,
    pub(crate) promoted: TimesPart<'a>,
    pub(crate) collected: TimesPart<'a>,
    pub(crate) stacks: &'a [StackId],
    lengths: &'a [u32],
    samples: &'a [u16],
    pub(crate) sources: &'a [Source],
    /// Empty if all blocks are of one domain.
    pub(crate) domains: &'a [DomainId],
    halvings: &'a [u8],
    blocks: &'a Blocks,
}

impl Columns<'_> {
    pub(crate) fn len(&self) -> usize {
        self.stacks.len()
    }

    #[inline]
    pub(crate) fn length(&self, at: usize) -> Words {
        match self.lengths[at] {
            u32::MAX => self.blocks.length(Row(self.first + at as u32)),
            length => Words(length.into()),
        }
    }

    #[inline]
    pub(crate) fn halvings(&self, at: usize) -> u8 {
        self.halvings.get(at).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn samples(&self, at: usize) -> u64 {
        match self.samples[at] {
            u16::MAX => self.blocks.samples(Row(self.first + at as u32)),
            samples => samples.into(),
        }
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
                domain: DomainId(0),
            });
            assert_eq!((blocks.length(row), blocks.samples(row)), (Words(size), size));
        }
        assert_eq!(blocks.len(), sizes.len());
    }
}
