//! Slots of a unit's block.

use std::fmt;

use crate::content::Content;

/// One slot: a global variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What it holds.
    pub kind: SlotKind,
    /// The modules inside the unit that define it, from the outermost on, and its own name last.
    pub path: Vec<String>,
    /// Its type as its module writes it: names are relative to that module. Empty if it has none.
    pub ty: String,
    /// Where it is defined, if known.
    pub position: Option<Position>,
    /// Of a function that has a symbol of its own: the number at the symbol's end.
    pub stamp: Option<u64>,
    /// What it holds, as a term or a module's layout. Not in files of version 1.
    pub content: Content,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SlotKind {
    /// A value of the core language.
    Value = 0,
    /// A structure.
    Module = 1,
    /// A functor.
    Functor = 2,
    /// An exception, or another constructor of an extensible type.
    Exception = 3,
    /// A class.
    Class = 4,
}

impl SlotKind {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 5] =
        [Self::Value, Self::Module, Self::Functor, Self::Exception, Self::Class];

    /// The one with this number in files.
    pub fn from_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// Its number in files.
    pub const fn code(self) -> u64 {
        self as u64
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Module => "module",
            Self::Functor => "functor",
            Self::Exception => "exception",
            Self::Class => "class",
        }
    }
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file as the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u64,
    /// From 1, in bytes.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Slot {
    /// The variable's path inside its unit, as a program would write it: `Cache.table`, `( + )`.
    pub fn variable(&self) -> String {
        let last = self.path.len().saturating_sub(1);
        let mut text = String::new();
        for (i, name) in self.path.iter().enumerate() {
            if i > 0 {
                text.push('.');
            }
            if i == last && self.kind == SlotKind::Value && !is_identifier(name) {
                text.push_str("( ");
                text.push_str(name);
                text.push_str(" )");
            } else {
                text.push_str(name);
            }
        }
        text
    }

    /// Its type, or what it is if it has none: `int ref`, `module`, `functor`.
    pub fn type_or_kind(&self) -> String {
        match (self.kind, self.ty.as_str()) {
            (SlotKind::Value, ty) => ty.into(),
            (kind, "") => kind.name().into(),
            (kind, ty) => format!("{} : {ty}", kind.name()),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    const OPERATORS: [&str; 9] =
        ["mod", "land", "lor", "lxor", "lsl", "lsr", "asr", "or", "*match*"];
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !OPERATORS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(kind: SlotKind, path: &[&str]) -> Slot {
        let path = path.iter().map(|&name| name.into()).collect();
        Slot {
            kind,
            path,
            ty: String::new(),
            position: None,
            stamp: None,
            content: Content::Unknown,
        }
    }

    #[test]
    fn variables_are_written_as_programs_write_them() {
        let value = |path: &[&str]| slot(SlotKind::Value, path).variable();
        assert_eq!(value(&["table"]), "table");
        assert_eq!(value(&["Cache", "table"]), "Cache.table");
        assert_eq!(value(&["Infix", ">>="]), "Infix.( >>= )");
        assert_eq!(value(&["mod"]), "( mod )");
        assert_eq!(value(&["_x'"]), "_x'");
        assert_eq!(value(&[]), "");
        assert_eq!(slot(SlotKind::Exception, &["E"]).variable(), "E");
    }
}
