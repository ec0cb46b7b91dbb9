//! Debug information: a frame's function, file, line and columns, and those inlined into it
//! (`runtime/backtrace_nat.c`, `asmcomp/emitaux.ml`).

use crate::memory::{Address, Memory};
use crate::version::Version;

/// How a location is packed into two 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Up to 5.1: line 20 bits, start column 8, end column 10.
    OneLine,
    /// From 5.2: with the end's line, and whatever does not fit beside the name.
    WithEnd,
}

impl Packing {
    /// The packing of a version's compiler.
    pub const fn of(version: Version) -> Self {
        match version {
            Version::V4_11
            | Version::V4_12
            | Version::V4_13
            | Version::V4_14
            | Version::V5_0
            | Version::V5_1 => Self::OneLine,
            Version::V5_2 | Version::V5_3 | Version::V5_4 => Self::WithEnd,
        }
    }
}

/// A place in the source, its names still in the program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RawLocation {
    /// C string: the source file as the compiler was given it.
    pub file: Address,
    /// C string: the function, as [`crate::names::write_name`] takes it. May be empty.
    pub function: Address,
    /// First line, from 1.
    pub line: u32,
    /// Column where it starts in that line, from 0.
    pub start_column: u32,
    /// Column just behind its end, **counted from the start of the first line**: memtrace's `end_char`.
    pub end_column: u32,
    /// Whether an exception is raised here.
    pub is_raise: bool,
}

/// Words of one location.
const STEP: u64 = 8;
/// More frames than this inlined into one another is no debug information.
const MOST_INLINED: usize = 1024;

/// The locations of one frame, innermost (what was inlined deepest) first, as the runtime gives them.
#[derive(Clone, Copy, Debug)]
pub struct Locations<'a, M> {
    memory: &'a M,
    packing: Packing,
    next: Option<Address>,
    left: usize,
}

/// The locations that stand at `debuginfo`.
pub fn locations<M: Memory>(memory: &M, packing: Packing, debuginfo: Address) -> Locations<'_, M> {
    Locations { memory, packing, next: Some(debuginfo), left: MOST_INLINED }
}

/// The same, outermost (the function that really has the frame) first: the order of a trace.
///
/// Fills `into` with at most `N` of the innermost locations and gives their number. Nothing is allocated.
pub fn outermost_first<M: Memory, const N: usize>(
    memory: &M,
    packing: Packing,
    debuginfo: Address,
    into: &mut [RawLocation; N],
) -> usize {
    let mut length = 0;
    for (slot, location) in into.iter_mut().zip(locations(memory, packing, debuginfo)) {
        *slot = location;
        length += 1;
    }
    if let Some(used) = into.get_mut(..length) {
        used.reverse();
    }
    length
}

impl RawLocation {
    /// A place that is nowhere, to fill arrays with.
    pub const NOWHERE: Self =
        Self { file: 0, function: 0, line: 0, start_column: 0, end_column: 0, is_raise: false };

    /// Reads the location at `at`, and whether another one follows that this one is inlined into.
    pub fn read(memory: &impl Memory, packing: Packing, at: Address) -> Option<(Self, bool)> {
        let both = memory.u64(at)?;
        let (info1, info2) = (both as u32, (both >> 32) as u32);
        let name = at.checked_add(u64::from(info1 & 0x03FF_FFFC))?;
        let file = name.checked_add_signed(i64::from(memory.u32(name)? as i32))?;
        let (is_raise, more) = (info1 & 2 != 0, info1 & 1 != 0);
        let location = |function, line, start_column, end_column| Self {
            file,
            function,
            line,
            start_column,
            end_column,
            is_raise,
        };
        let location = match packing {
            Packing::OneLine => {
                let end = (info2 & 0xF) << 6 | info1 >> 26;
                location(name.checked_add(4)?, info2 >> 12, info2 >> 4 & 0xFF, end)
            }
            // The 5.2 packing; the end's line is not kept.
            Packing::WithEnd if info2 & 1 << 31 != 0 => {
                let start = memory.u16(name.checked_add(4)?)?;
                let end = memory.u32(name.checked_add(8)?)?;
                location(name.checked_add(12)?, info2 >> 12 & 0x7_FFFF, u32::from(start), end)
            }
            Packing::WithEnd => {
                // The end's own column, and the distance between the two lines' starts.
                let end = (info2 >> 3 & 0x7F) + ((info2 & 7) << 6 | info1 >> 26);
                location(name.checked_add(4)?, info2 >> 19, info2 >> 10 & 0x3F, end)
            }
        };
        Some((location, more))
    }
}

impl<M: Memory> Iterator for Locations<'_, M> {
    type Item = RawLocation;

    fn next(&mut self) -> Option<RawLocation> {
        let at = self.next.take()?;
        self.left = self.left.checked_sub(1)?;
        let (location, more) = RawLocation::read(self.memory, self.packing, at)?;
        if more {
            self.next = at.checked_add(STEP);
        }
        Some(location)
    }
}
