//! Files that were found and not used.

use std::fmt;

/// A file that has a unit's name and was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// Why it was not used.
    pub reason: Reason,
    /// More about it, for example what was found instead; may be empty.
    pub detail: String,
}

/// Why a file was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Reason {
    /// Its digest is not that in the program.
    Stale = 0,
    /// It cannot be read.
    Damaged = 1,
    /// It belongs to another unit.
    OtherUnit = 2,
    /// Something that it needs is not there.
    Incomplete = 3,
    /// Another version of the compiler made it.
    Foreign = 4,
    /// Its implementation is not that of the program, though its interface is.
    OtherImplementation = 5,
    /// It describes a block of another size than the program's.
    OtherSize = 6,
}

impl Reason {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 7] = [
        Self::Stale,
        Self::Damaged,
        Self::OtherUnit,
        Self::Incomplete,
        Self::Foreign,
        Self::OtherImplementation,
        Self::OtherSize,
    ];

    /// The one with this number in files.
    pub fn from_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// Its number in files.
    pub const fn code(self) -> u64 {
        self as u64
    }

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Damaged => "damaged",
            Self::OtherUnit => "other-unit",
            Self::Incomplete => "incomplete",
            Self::Foreign => "foreign",
            Self::OtherImplementation => "other-implementation",
            Self::OtherSize => "other-size",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stale => "its digest is not the program's",
            Self::Damaged => "it cannot be read",
            Self::OtherUnit => "it belongs to another unit",
            Self::Incomplete => "it is not complete",
            Self::Foreign => "another version of the compiler made it",
            Self::OtherImplementation => "its implementation is not the program's",
            Self::OtherSize => "it describes a block of another size",
        })
    }
}
