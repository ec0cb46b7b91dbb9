//! The small tables of a file: facts, labels, roots and their kin.

use crate::facts::{Facts, SnapshotReason};
use crate::format::{IS_BETWEEN, IS_OF_CLASS, IS_PARTIAL, IS_START, STANDS_IN_BLOCK, WITH_SYMBOLS};
use crate::function_lines::Between;
use crate::label::{Label, LabelRole, Labels, RootKind, Strength, Texts};
use crate::units::{Address, BlockIndex, LabelId};
use memtrail_leb128::{Cursor, unzigzag};

/// A root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The block it holds.
    pub block: BlockIndex,
    /// What it is.
    pub label: LabelId,
    /// How it holds.
    pub strength: Strength,
    /// The static block that it is a field of, and which one. The root stands for that field: the
    /// block's own edges are without it.
    pub field_of: Option<(BlockIndex, u64)>,
}

/// An ephemeron or weak array: nothing is retained by its keys; its data lives while it and all
/// keys do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ephemeron {
    /// The block itself.
    pub block: BlockIndex,
    /// Its data, if that is set and a block.
    pub data: Option<BlockIndex>,
    /// Whether data is set: that of weak arrays never is. Up to version 3, only if it is a block.
    pub has_data: bool,
    /// Keys that are set and blocks.
    pub keys: Vec<BlockIndex>,
}

/// A block that the allocation trace knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The block.
    pub block: BlockIndex,
    /// The id of its allocation in the trace.
    pub id: u64,
    /// How many samples it counts.
    pub samples: u64,
}

/// A function that closures have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the file")]
pub struct Function {
    /// Its code.
    pub code: Address,
    /// Whether the closures are partial applications of it.
    pub is_partial: bool,
    /// Its symbol, as the linker has it; empty if unknown.
    pub symbol: Vec<u8>,
    /// Its name; empty if unknown.
    pub name: Vec<u8>,
    /// Its source file; empty if unknown.
    pub file: Vec<u8>,
    /// The line it starts at, or the first one in it that is known; 0 if unknown.
    pub line: u32,
    /// The column in that line, from 0.
    pub column: u32,
    /// Whether it starts there. Up to version 4, that is not known.
    pub is_start: bool,
    /// Whether that is from the `.cmt` file of its unit: no snapshot has that by itself.
    pub is_of_cmt: bool,
    /// Without a line: between which lines it starts, if that is known.
    pub between: Option<Between>,
    /// Whether these are the lines of the class that the compiler made it for.
    pub is_of_class: bool,
}

impl Function {
    /// Whether it has no name of its own: `Shop.on_order.(fun)`.
    pub fn is_anonymous(&self) -> bool {
        self.name.ends_with(b"(fun)")
    }
}

/// Sums over a whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Blocks.
    pub blocks: u64,
    /// Pointers between blocks.
    pub edges: u64,
    /// Words that look like pointers and point to no block.
    pub outside: u64,
}

pub(crate) fn facts(cursor: &mut Cursor<'_>, pause: u64) -> Option<Facts> {
    let mut facts = Facts {
        taken_at: cursor.number()?,
        clock: cursor.number()?,
        number: cursor.number()?,
        reason: SnapshotReason::from_code(cursor.number()?),
        pid: cursor.number()?,
        program: cursor.bytes()?.to_vec(),
        runtime: cursor.bytes()?.to_vec(),
        pause,
        counters: Vec::new(),
        label: Vec::new(),
    };
    for _ in 0..cursor.count()? {
        facts.counters.push((cursor.bytes()?.to_vec(), cursor.number()?));
    }
    // Files from before there were labels end here.
    facts.label = cursor.bytes().map(<[u8]>::to_vec).unwrap_or_default();
    Some(facts)
}

pub(crate) fn labels(cursor: &mut Cursor<'_>) -> Option<Labels> {
    let mut texts = Texts::new();
    let count = cursor.count()?;
    for text in 0..count {
        let bytes = cursor.bytes()?;
        // Number 0, the empty one, is there already.
        if text > 0 {
            texts.push(bytes);
        }
    }
    let mut labels = Labels::new();
    labels.texts = texts;
    for id in 0..cursor.count()? as u64 {
        let parent = match cursor.number()? {
            0 => None,
            above if above <= id => Some(LabelId(above as u32 - 1)),
            _ => return None,
        };
        let kind = RootKind::from_code(cursor.byte()?);
        let part = LabelRole::from_code(cursor.byte()?);
        let mut text = || u32::try_from(cursor.number()?).ok();
        let (name, file) = (text()?, text()?);
        labels.labels.push(Label { parent, kind, part, name, file, number: cursor.number()? });
    }
    Some(labels)
}

/// A number of a block, as the difference to the one before.
fn block(cursor: &mut Cursor<'_>, last: &mut u32) -> Option<BlockIndex> {
    let block = i64::from(*last).checked_add(unzigzag(cursor.number()?))?;
    *last = u32::try_from(block).ok()?;
    Some(BlockIndex(*last))
}

pub(super) fn roots(cursor: &mut Cursor<'_>, labels: usize) -> Option<Vec<Root>> {
    let count = cursor.count()?;
    let mut roots = Vec::with_capacity(count);
    let mut last = 0;
    for _ in 0..count {
        let label = LabelId(u32::try_from(cursor.number()?).ok()?);
        if label.0 as usize >= labels {
            return None;
        }
        let how = cursor.number()?;
        let strength = match how & (STANDS_IN_BLOCK - 1) {
            0 => Strength::Strong,
            1 => Strength::Finaliser,
            2 => Strength::Last,
            _ => Strength::Weak,
        };
        let block = block(cursor, &mut last)?;
        let field_of = if how & STANDS_IN_BLOCK == 0 {
            None
        } else {
            Some((BlockIndex(u32::try_from(cursor.number()?).ok()?), cursor.number()?))
        };
        roots.push(Root { block, label, strength, field_of });
    }
    Some(roots)
}

pub(super) fn ephemerons(cursor: &mut Cursor<'_>, version: u16) -> Option<Vec<Ephemeron>> {
    let count = cursor.count()?;
    let mut ephemerons = Vec::with_capacity(count);
    let mut last = 0;
    for _ in 0..count {
        let block = block(cursor, &mut last)?;
        // What is less stands for no block.
        let first = if version < WITH_SYMBOLS { 1 } else { 2 };
        let number = cursor.number()?;
        let data = match number.checked_sub(first) {
            None => None,
            Some(block) => Some(BlockIndex(u32::try_from(block).ok()?)),
        };
        let mut keys = Vec::with_capacity(cursor.count()?);
        for _ in 0..keys.capacity() {
            keys.push(BlockIndex(u32::try_from(cursor.number()?).ok()?));
        }
        ephemerons.push(Ephemeron { block, data, has_data: number != 0, keys });
    }
    Some(ephemerons)
}

pub(crate) fn samples(cursor: &mut Cursor<'_>) -> Option<Vec<Sample>> {
    let count = cursor.count()?;
    let mut samples = Vec::with_capacity(count);
    let mut last = 0;
    for _ in 0..count {
        let block = block(cursor, &mut last)?;
        samples.push(Sample { block, id: cursor.number()?, samples: cursor.number()? });
    }
    Some(samples)
}

pub(crate) fn functions(cursor: &mut Cursor<'_>, version: u16) -> Option<Vec<Function>> {
    let count = cursor.count()?;
    let mut functions = Vec::with_capacity(count);
    for _ in 0..count {
        let code = Address(cursor.number()?);
        let (flags, symbol) = if version < WITH_SYMBOLS {
            (0, Vec::new())
        } else {
            (cursor.byte()?, cursor.bytes()?.to_vec())
        };
        let (name, file) = (cursor.bytes()?.to_vec(), cursor.bytes()?.to_vec());
        let mut number = || u32::try_from(cursor.number()?).ok();
        let line = number()?;
        let column = if version < WITH_SYMBOLS { 0 } else { number()? };
        let between = if flags & IS_BETWEEN == 0 {
            None
        } else {
            Some(Between { first: number()?, last: Some(number()?).filter(|last| *last > 0) })
        };
        let (is_partial, is_start) = (flags & IS_PARTIAL != 0, flags & IS_START != 0);
        functions.push(Function {
            code,
            is_partial,
            symbol,
            name,
            file,
            line,
            column,
            is_start,
            is_of_cmt: false,
            between,
            is_of_class: between.is_some() && flags & IS_OF_CLASS != 0,
        });
    }
    Some(functions)
}

pub(super) fn customs(cursor: &mut Cursor<'_>) -> Option<Vec<Vec<u8>>> {
    let count = cursor.count()?;
    (0..count).map(|_| Some(cursor.bytes()?.to_vec())).collect()
}

/// The sums, and the pause; version 1 has that elsewhere.
pub(super) fn totals(cursor: &mut Cursor<'_>) -> Option<(Totals, Option<u64>)> {
    let totals =
        Totals { blocks: cursor.number()?, edges: cursor.number()?, outside: cursor.number()? };
    Some((totals, cursor.number()))
}
