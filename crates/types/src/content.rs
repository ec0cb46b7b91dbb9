//! Contents of slots: places in the table of types.

/// A term: a place in [`terms`](crate::term::TypeTable::terms).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(pub u32);

/// A declaration: a place in [`declarations`](crate::term::TypeTable::declarations).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeclarationId(pub u32);

/// The layout of a module's block: a place in [`modules`](crate::term::TypeTable::modules).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u32);

/// Content of a slot of a module's block, beyond its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// Nothing is known.
    Unknown,
    /// A value of this type.
    Value(TermId),
    /// A module's block.
    Module(ModuleId),
    /// The constructor of an extensible type: a place in [`extensions`](crate::term::TypeTable::extensions).
    Extension(u32),
}
