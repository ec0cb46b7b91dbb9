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
            Version::V5_2 | Version::V5_3 | Version::V5_4 | Version::V5_5 => Self::WithEnd,
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
const MAX_INLINED: usize = 1024;

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
    Locations { memory, packing, next: Some(debuginfo), left: MAX_INLINED }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x40_0000;
    /// Where the models put a location, its name and its file.
    const NAME: u64 = 64;
    const FILE: u64 = 200;

    fn place(info1: u32, info2: u32, name: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 256];
        bytes[..4].copy_from_slice(&info1.to_le_bytes());
        bytes[4..8].copy_from_slice(&info2.to_le_bytes());
        let at = NAME as usize;
        bytes[at..at + 4].copy_from_slice(&(FILE as i32 - NAME as i32).to_le_bytes());
        bytes[at + 4..at + 4 + name.len()].copy_from_slice(name);
        bytes[FILE as usize..FILE as usize + 5].copy_from_slice(b"a.ml\0");
        bytes
    }

    fn read(bytes: &[u8], packing: Packing) -> (RawLocation, bool, String, String) {
        let memory = Image { base: BASE, bytes };
        let (location, more) = RawLocation::read(&memory, packing, BASE).expect("in memory");
        let text = |at| {
            let mut into = [0; 32];
            String::from_utf8_lossy(memory.c_string(at, &mut into).expect("text")).into_owned()
        };
        (location, more, text(location.file), text(location.function))
    }

    proptest! {
        #[test]
        fn one_line(line in 0..1u32 << 20, start in 0..256u32, end in 0..1024u32, raise: bool, more: bool) {
            let info1 = end << 26 | NAME as u32 | u32::from(raise) << 1 | u32::from(more);
            let info2 = line << 12 | start << 4 | end >> 6;
            let bytes = place(info1, info2, b"M.f\0");
            let (location, next, file, function) = read(&bytes, Packing::OneLine);
            prop_assert_eq!((location.line, location.start_column, location.end_column), (line, start, end));
            prop_assert_eq!((location.is_raise, next), (raise, more));
            prop_assert_eq!((file.as_str(), function.as_str()), ("a.ml", "M.f"));
        }

        #[test]
        fn with_end_packed(line in 0..1u32 << 12, start in 0..64u32, own in 0..128u32, apart in 0..512u32, lines in 0..8u32) {
            let info1 = apart << 26 | NAME as u32;
            let info2 = line << 19 | lines << 16 | start << 10 | own << 3 | apart >> 6;
            let bytes = place(info1, info2, b"M.f\0");
            let (location, _, file, function) = read(&bytes, Packing::WithEnd);
            prop_assert_eq!((location.line, location.start_column, location.end_column), (line, start, own + apart));
            prop_assert_eq!((file.as_str(), function.as_str()), ("a.ml", "M.f"));
        }

        #[test]
        fn with_end_apart(line in 0..1u32 << 19, lines in 0..1u32 << 18, start: u16, own: u16, end in 0..1u32 << 30) {
            let mut name = [start.to_le_bytes(), own.to_le_bytes()].concat();
            name.extend(end.to_le_bytes());
            name.extend(b"M.g\0");
            let info1 = lines << 26 | NAME as u32;
            let info2 = 1 << 31 | line << 12 | lines >> 6;
            let bytes = place(info1, info2, &name);
            let (location, _, file, function) = read(&bytes, Packing::WithEnd);
            prop_assert_eq!((location.line, location.start_column, location.end_column), (line, u32::from(start), end));
            prop_assert_eq!((file.as_str(), function.as_str()), ("a.ml", "M.g"));
        }
    }

    #[test]
    fn a_chain_is_given_from_either_end() {
        let mut bytes = place(NAME as u32 | 1, 1 << 12, b"inner\0");
        bytes[8..12].copy_from_slice(&(NAME as u32 - 8).to_le_bytes());
        bytes[12..16].copy_from_slice(&(2u32 << 12).to_le_bytes());
        let memory = Image { base: BASE, bytes: &bytes };
        let lines: Vec<_> = locations(&memory, Packing::OneLine, BASE).map(|l| l.line).collect();
        assert_eq!(lines, [1, 2]);
        let mut found = [RawLocation::NOWHERE; 4];
        assert_eq!(outermost_first(&memory, Packing::OneLine, BASE, &mut found), 2);
        assert_eq!(found.map(|l| l.line), [2, 1, 0, 0]);
    }

    #[test]
    fn a_chain_without_end_ends() {
        let bytes = vec![1; 1 << 16];
        let memory = Image { base: BASE, bytes: &bytes };
        let packing = Packing::OneLine;
        assert!(locations(&memory, packing, BASE).count() <= MAX_INLINED);
    }
}
