//! What is known of a program's units.

use crate::digest::Digest;
use crate::problem::Problem;
use crate::slot::Slot;
use crate::term::TypeTable;

/// What is known of all units of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// The program's file.
    pub program: String,
    /// The version of the compiler that read the files; empty if none did.
    pub compiler: String,
    /// The units, in the order of the program.
    pub units: Vec<Unit>,
    /// What the contents of slots speak of. Empty in files of version 1.
    pub table: TypeTable,
}

impl Types {
    /// True if files were found for all units that have a block.
    pub fn is_complete(&self) -> bool {
        self.units.iter().all(|unit| unit.layout.is_some() || unit.fields.is_none_or(|n| n == 0))
    }
}

/// A compilation unit of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name as the compiler knows it: `Stdlib__List`.
    pub name: String,
    /// Its interface's digest in the program.
    pub interface: Option<Digest>,
    /// Its implementation's digest in the program.
    pub implementation: Option<Digest>,
    /// How many fields its block has in the program; `None` if it has no block.
    pub fields: Option<u64>,
    /// What its block holds; `None` if no file describes it.
    pub layout: Option<Layout>,
    /// Files that were found and not used.
    pub problems: Vec<Problem>,
}

/// What the block of a unit holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The file with its interface.
    pub interface_file: String,
    /// The file with its implementation; empty if there is none.
    pub implementation_file: String,
    /// What confirms the implementation.
    pub evidence: Evidence,
    /// Whether a method cache may follow the last slot.
    pub method_cache: bool,
    /// What its interface exports, in order.
    pub exported: Vec<Slot>,
    /// What else its implementation defines, in order. Blocks of compilers with flambda do not have these.
    pub hidden: Vec<Slot>,
}

/// What confirms that the implementation is that of the program. The interface's digest always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Evidence {
    /// The `.cmt` has the interface's digest, and its block the program's size.
    Interface = 0,
    /// Functions of the implementation are in the program under the same numbers, too.
    Functions = 1,
    /// The `.cmx` beside it has the implementation's digest, too.
    Implementation = 2,
}

impl Evidence {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Interface, Self::Functions, Self::Implementation];

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
            Self::Interface => "interface",
            Self::Functions => "functions",
            Self::Implementation => "implementation",
        }
    }
}

/// What a field of a unit's block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// A variable.
    Slot(&'a Slot),
    /// The cache of methods that the compiler adds.
    MethodCache,
}

impl Layout {
    /// How many fields can be named, from the first on, of a block with so many: none if the block cannot
    /// be this unit's.
    pub fn named(&self, fields: u64) -> u64 {
        let exported = self.exported.len() as u64;
        let all = exported + self.hidden.len() as u64;
        if self.implementation_file.is_empty() {
            // What follows the exported ones is not known.
            return if fields >= exported { exported } else { 0 };
        }
        let whole = fields == all || (self.method_cache && fields == all + 1);
        // A compiler with flambda keeps the exported ones alone.
        if whole || fields == exported { fields } else { 0 }
    }

    /// What a field holds, of a block with so many; `None` if it has no name.
    pub fn field(&self, number: u64, fields: u64) -> Option<Field<'_>> {
        if number >= self.named(fields) {
            return None;
        }
        let number = usize::try_from(number).ok()?;
        let slot = match number.checked_sub(self.exported.len()) {
            None => self.exported.get(number),
            Some(hidden) => self.hidden.get(hidden),
        };
        Some(slot.map_or(Field::MethodCache, Field::Slot))
    }
}

impl Unit {
    /// How many fields of its block have a name.
    pub fn named(&self) -> u64 {
        let (Some(fields), Some(layout)) = (self.fields, &self.layout) else { return 0 };
        layout.named(fields)
    }
}
