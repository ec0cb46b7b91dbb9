//! What is known of single blocks: integers that types can be known from, and names of objects.

use crate::format::{CONSTRUCTOR, WITH_COLUMNS, WITH_PIECES};
use crate::units::BlockIndex;
use memtrail_leb128::{Cursor, unzigzag};

/// The number of ephemerons with data, in [`Snapshot::weak`](super::Snapshot).
#[cfg(feature = "analysis")]
pub(crate) const HAS_DATA: u32 = 1;

/// A number for some of the blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    blocks: Vec<u32>,
    numbers: Vec<u32>,
}

impl Marks {
    /// A block's number.
    pub fn get(&self, block: BlockIndex) -> Option<u32> {
        let place = self.blocks.binary_search(&block.0).ok()?;
        self.numbers.get(place).copied()
    }

    /// Blocks and their numbers, from this block on.
    pub fn from(&self, block: BlockIndex) -> impl Iterator<Item = (BlockIndex, u32)> + '_ {
        let first = self.blocks.partition_point(|other| *other < block.0);
        let blocks = self.blocks.get(first..).unwrap_or_default();
        let numbers = self.numbers.get(first..).unwrap_or_default();
        blocks.iter().map(|block| BlockIndex(*block)).zip(numbers.iter().copied())
    }

    /// How many blocks have a number.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether no block has.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Leaves out blocks from `count` on.
    pub(super) fn truncate(&mut self, count: u32) {
        let there = self.blocks.partition_point(|block| *block < count);
        self.blocks.truncate(there);
        self.numbers.truncate(there);
    }

    /// Leaves out numbers from `names` on.
    fn keep_below(&mut self, names: usize) {
        if self.numbers.iter().any(|number| *number as usize >= names) {
            let all = self.from(BlockIndex(0)).filter(|(_, number)| (*number as usize) < names);
            *self = Self::new(all.collect());
        }
    }

    /// Adds blocks that are behind all that are known.
    fn append(&mut self, mut piece: Self) -> Option<()> {
        if let (Some(last), Some(first)) = (self.blocks.last(), piece.blocks.first())
            && last >= first
        {
            return None;
        }
        self.blocks.append(&mut piece.blocks);
        self.numbers.append(&mut piece.numbers);
        Some(())
    }

    /// Reads a section of blocks, whose names come later.
    pub(super) fn read_piece(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.append(Self::read(cursor, usize::MAX, true)?)
    }

    /// From blocks in any order; of one that comes twice, the first number.
    pub(super) fn new(mut all: Vec<(BlockIndex, u32)>) -> Self {
        all.sort_by_key(|(block, _)| block.0);
        all.dedup_by_key(|(block, _)| block.0);
        let (blocks, numbers) = all.into_iter().map(|(block, number)| (block.0, number)).unzip();
        Self { blocks, numbers }
    }

    /// Blocks are in order, numbers below `names`. With `in_columns`, all blocks come before all numbers.
    fn read(cursor: &mut Cursor<'_>, names: usize, in_columns: bool) -> Option<Self> {
        let count = cursor.count()?;
        let mut marks =
            Self { blocks: Vec::with_capacity(count), numbers: Vec::with_capacity(count) };
        let number = |cursor: &mut Cursor<'_>| {
            u32::try_from(cursor.number()?).ok().filter(|number| (*number as usize) < names)
        };
        let mut last = 0;
        for _ in 0..count {
            let block = i64::from(last).checked_add(unzigzag(cursor.number()?))?;
            let block = u32::try_from(block).ok()?;
            if marks.blocks.last().is_some_and(|last| block <= *last) {
                return None;
            }
            last = block;
            marks.blocks.push(block);
            if !in_columns {
                marks.numbers.push(number(cursor)?);
            }
        }
        while marks.numbers.len() < count {
            marks.numbers.push(number(cursor)?);
        }
        Some(marks)
    }
}

/// The first fields of blocks with tag 0 and two fields, and the second ones of nodes of maps, where they are integers that
/// a hash may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Immediates {
    /// The integers, each once.
    pub values: Vec<i64>,
    /// Names of polymorphic variants, in the order of values' numbers: the number, and the name.
    pub names: Vec<(u32, Vec<u8>)>,
    /// The blocks with the number of their value.
    pub blocks: Marks,
}

impl Immediates {
    /// The integer of a block.
    pub fn get(&self, block: BlockIndex) -> Option<i64> {
        self.values.get(self.blocks.get(block)? as usize).copied()
    }

    /// The polymorphic variant that has the value of this number as its hash, if its name is in the
    /// program.
    pub fn variant(&self, number: u32) -> Option<&[u8]> {
        let place = self.names.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.names.get(place).map(|(_, name)| name.as_slice())
    }

    /// `blocks` are those of the sections before.
    pub(super) fn read(cursor: &mut Cursor<'_>, version: u16, mut blocks: Marks) -> Option<Self> {
        let count = cursor.count()?;
        let values =
            (0..count).map(|_| cursor.number().map(unzigzag)).collect::<Option<Vec<i64>>>()?;
        let count = cursor.count()?;
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let number = u32::try_from(cursor.number()?).ok()?;
            names.push((number, cursor.bytes()?.to_vec()));
        }
        names.sort();
        names.dedup_by_key(|(number, _)| *number);
        if version < WITH_PIECES {
            blocks = Marks::read(cursor, values.len(), version >= WITH_COLUMNS)?;
        }
        blocks.keep_below(values.len());
        Some(Self { values, names, blocks })
    }
}

/// What a block with the tag of objects is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectName {
    /// The constructor of an exception or of an extensible variant, by the name it was registered
    /// with.
    Constructor(Vec<u8>),
    /// An object with methods of these classes. Of a class that only inherits, it is those it
    /// inherits from.
    MethodsOf(Vec<u8>),
}

/// Names of blocks with the tag of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// The names.
    pub names: Vec<ObjectName>,
    /// The blocks with the number of their name.
    pub blocks: Marks,
}

impl Objects {
    /// `blocks` are those of the sections before.
    pub(super) fn read(cursor: &mut Cursor<'_>, version: u16, mut blocks: Marks) -> Option<Self> {
        let count = cursor.count()?;
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let kind = cursor.byte()?;
            let text = cursor.bytes()?.to_vec();
            names.push(match kind {
                CONSTRUCTOR => ObjectName::Constructor(text),
                _ => ObjectName::MethodsOf(text),
            });
        }
        if version < WITH_PIECES {
            blocks = Marks::read(cursor, names.len(), false)?;
        }
        blocks.keep_below(names.len());
        Some(Self { names, blocks })
    }
}
