//! What is known of the types of a snapshot's blocks. They are found elsewhere: from the types of
//! global variables, or from what blocks look like. Here is what queries need of them.

use crate::graph::column::Column;
use crate::units::BlockIndex;

/// A type of blocks, as one constructor or tag of it: a place in [`BlockTypes`]. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockTypeId(pub u16);

/// The types of a snapshot's blocks.
#[derive(Debug, Default)]
pub struct BlockTypes {
    /// For each block its type; shorter than the snapshot if the last ones have none.
    of: Column<u16>,
    /// The types, from 1 on.
    types: Vec<BlockType>,
}

/// A type of blocks, as one constructor or tag of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockType {
    /// The type: `(string, session) Hashtbl.t`, `page list`, `(string * int)`.
    pub name: String,
    /// The constructor, if the type has several, or the part of a structure that the block is: `Cons`, `::`,
    /// `buckets`.
    pub constructor: Option<String>,
    /// Names of its fields.
    pub fields: FieldNames,
    /// How it was found.
    pub derivation: Derivation,
}

/// What fields of a block are called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FieldNames {
    /// They have no names.
    None,
    /// They are elements.
    Elements,
    /// Fields by name, in order; those with an empty name have only their number.
    Names(Vec<String>),
}

/// How a block's type was found. Better ones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Derivation {
    /// Along typed fields, from a global variable.
    Variable,
    /// The same, through the environment of a closure.
    Closure,
    /// From what the block and those around it look like.
    Contents,
}

impl Derivation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Variable, Self::Closure, Self::Contents];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::Closure => "closure",
            Self::Contents => "contents",
        }
    }
}

impl BlockType {
    /// The type and, if there are several, the constructor: `page list (::)`. Where it was recognised by contents
    /// alone, `~` is before it.
    pub fn text(&self) -> String {
        let inferred = if self.derivation == Derivation::Contents { "~ " } else { "" };
        match &self.constructor {
            Some(constructor) => format!("{inferred}{} ({constructor})", self.name),
            None => format!("{inferred}{}", self.name),
        }
    }

    /// What a field is called: `.data`, `.(17)` of elements, `.3` where it has no name.
    pub fn field(&self, field: u64) -> String {
        match &self.fields {
            FieldNames::Elements => format!(".({field})"),
            FieldNames::Names(names) => {
                let name = usize::try_from(field).ok().and_then(|field| names.get(field));
                match name.filter(|name| !name.is_empty()) {
                    Some(name) => format!(".{name}"),
                    None => format!(".{field}"),
                }
            }
            FieldNames::None => format!(".{field}"),
        }
    }
}

impl PartialEq for BlockTypes {
    fn eq(&self, other: &Self) -> bool {
        *self.of == *other.of && self.types == other.types
    }
}

impl Eq for BlockTypes {}

impl BlockTypes {
    /// From a type for each block, as places in `types` from 1 on.
    pub fn new(of: Vec<BlockTypeId>, types: Vec<BlockType>) -> Self {
        Self::from_column(of.into_iter().map(|id| id.0).collect::<Vec<u16>>().into(), types)
    }

    /// The same from a column.
    pub const fn from_column(of: Column<u16>, types: Vec<BlockType>) -> Self {
        Self { of, types }
    }

    /// For each block the number of its type.
    pub(crate) fn column(&self) -> &[u16] {
        &self.of
    }

    /// These types, and for blocks without one those of `others`.
    #[must_use]
    pub fn or(mut self, others: Self) -> Self {
        let offset = self.types.len();
        if offset + others.types.len() > usize::from(u16::MAX) {
            return self;
        }
        self.types.extend(others.types);
        // The longer column is that of the result.
        if self.of.len() < others.of.len() {
            let mut of = others.of;
            for id in of.iter_mut().filter(|id| **id != 0) {
                *id += offset as u16;
            }
            for (id, better) in of.iter_mut().zip(&*self.of).filter(|(_, better)| **better != 0) {
                *id = *better;
            }
            return Self { of, types: self.types };
        }
        for (id, other) in self.of.iter_mut().zip(&*others.of) {
            if *id == 0 && *other != 0 {
                *id = *other + offset as u16;
            }
        }
        self
    }

    /// A block's type's number; 0 if it has none.
    #[inline]
    pub fn id(&self, block: BlockIndex) -> BlockTypeId {
        BlockTypeId(self.of.get(block.0 as usize).copied().unwrap_or_default())
    }

    /// The type of a number.
    pub fn get(&self, id: BlockTypeId) -> Option<&BlockType> {
        self.types.get(usize::from(id.0).checked_sub(1)?)
    }

    /// A block's type.
    pub fn of(&self, block: BlockIndex) -> Option<&BlockType> {
        self.get(self.id(block))
    }

    /// All types with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (BlockTypeId, &BlockType)> {
        (1..).map(BlockTypeId).zip(&self.types)
    }

    /// Whether no block has a type.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, derivation: Derivation) -> BlockType {
        BlockType { name: name.into(), constructor: None, fields: FieldNames::None, derivation }
    }

    #[test]
    fn declared_types_come_before_those_by_contents() {
        let of = |numbers: &[u16]| numbers.iter().copied().map(BlockTypeId).collect();
        let declared = || {
            let types = ["a", "b"].map(|n| named(n, Derivation::Variable)).into();
            BlockTypes::new(of(&[0, 2, 1]), types)
        };
        let contents =
            || BlockTypes::new(of(&[1, 1, 0, 1, 0]), vec![named("list", Derivation::Contents)]);
        let merged = declared().or(contents());
        let names: Vec<Option<String>> =
            (0..6).map(|block| merged.of(BlockIndex(block)).map(BlockType::text)).collect();
        let expected = [Some("~ list"), Some("b"), Some("a"), Some("~ list"), None, None];
        assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
        assert_eq!(BlockTypes::default().or(contents()), contents());
        assert_eq!(declared().or(BlockTypes::default()), declared());
        let short = || BlockTypes::new(of(&[0, 1]), vec![named("list", Derivation::Contents)]);
        assert_eq!(declared().or(short()).id(BlockIndex(0)), BlockTypeId(0));
        assert_eq!(declared().or(short()).id(BlockIndex(1)), BlockTypeId(2));
    }

    #[test]
    fn fields_have_names_numbers_or_are_elements() {
        let with = |fields| BlockType { fields, ..named("t", Derivation::Variable) };
        let names = with(FieldNames::Names(vec!["data".into(), String::new()]));
        assert_eq!([0, 1, 2].map(|field| names.field(field)), [".data", ".1", ".2"]);
        assert_eq!(with(FieldNames::Elements).field(17), ".(17)");
        assert_eq!(with(FieldNames::None).field(1), ".1");
        let cell = BlockType { constructor: Some("::".into()), ..names };
        assert_eq!(cell.text(), "t (::)");
    }
}
