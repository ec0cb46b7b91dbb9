//! What is known of the types of a snapshot's blocks. They are found elsewhere: from the types of
//! global variables, or from what blocks look like. Here is what queries need of them.

use crate::units::BlockIndex;

/// A type of blocks, as one constructor or tag of it: a place in [`BlockTypes`]. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockTypeId(pub u16);

/// The types of a snapshot's blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTypes {
    /// For each block its type; shorter than the snapshot if the last ones have none.
    of: Vec<BlockTypeId>,
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
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::Closure => "closure",
            Self::Contents => "contents",
        }
    }
}

impl BlockTypes {
    /// From a type for each block, as places in `types` from 1 on.
    pub fn new(of: Vec<BlockTypeId>, types: Vec<BlockType>) -> Self {
        Self { of, types }
    }

    /// A block's type's number; 0 if it has none.
    #[inline]
    pub fn id(&self, block: BlockIndex) -> BlockTypeId {
        self.of.get(block.0 as usize).copied().unwrap_or_default()
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
