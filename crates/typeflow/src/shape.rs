//! What a block is, as a part of its type, and what its fields hold.

use crate::instances::TypeId;
use crate::texts::TextId;

/// What a block is: a place in [`Shapes`](crate::shapes::Shapes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ShapeId(pub(crate) u32);

/// What a block is.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Its type, expanded.
    pub(crate) ty: TypeId,
    /// Which part of the type it is.
    pub(crate) part: Part,
    /// What its fields hold.
    pub(crate) fields: Fields,
    /// How many parts of its type are not known.
    pub(crate) unknowns: u8,
    /// What it is to other blocks.
    pub(crate) role: Role,
}

/// What a block is to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A value.
    Value,
    /// A module, or a whole unit.
    Module,
    /// A constructor of an extensible type: a place in the table.
    Extension(u32),
}

/// Which part of its type a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// A constructor: a place in its declaration.
    Constructor(u32),
    /// A constructor of an extensible type with what it carries: a place in the table.
    Extension(u32),
    /// A lazy value that is not forced.
    Thunk,
}

/// What the fields of a block hold.
#[derive(Clone, Debug)]
pub(crate) enum Fields {
    /// No values.
    None,
    /// Each its own type.
    Each(Box<[TypeId]>),
    /// All the same.
    All(TypeId),
    /// The argument of a polymorphic variant, behind the hash of its tag.
    Argument {
        /// Types by hash.
        by_hash: Box<[(i64, TypeId)]>,
        /// Of a tag that the type does not have.
        of_others: TypeId,
        /// Where the hash is not known.
        otherwise: TypeId,
    },
    /// A dynamic value: a tag, and a value whose type the tag says.
    Dynamic {
        /// The type of the tag.
        tag: TypeId,
        /// Types of values by tag, in the order of tags.
        by_tag: Box<[(i64, TypeId)]>,
        /// Of another tag.
        otherwise: TypeId,
    },
    /// A node of a map by the tags of dynamic values: the key says the type of the value.
    ByTag {
        /// Types of the value by tag, in the order of tags.
        by_tag: Box<[(i64, TypeId)]>,
        /// Types of all fields, where the tag is another.
        otherwise: Box<[TypeId]>,
    },
    /// A function's environment.
    Environment,
    /// A constructor of an extensible type, which says what follows.
    Extensible,
    /// The elements of a weak array, or the keys of an ephemeron and its data.
    Weak {
        /// The type of keys.
        keys: TypeId,
        /// The type of data.
        data: Option<TypeId>,
    },
    /// What they hold is not known; the reason.
    Unknown(TextId),
}

/// Whether a block can be of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// It is that.
    Is(ShapeId),
    /// Nothing can be said; the reason.
    Unknown(TextId),
    /// Its tag or its size is not one of the type.
    Contradiction,
}
