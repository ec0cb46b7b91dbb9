//! Types without variables, each once. Arguments of declared types are not expanded: a type refers to its
//! arguments by number, whatever they stand for.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use memtrail_types::term::{DeclarationId, Definition, ModuleId, TermId, TypeTable};
use rustc_hash::FxBuildHasher;

use crate::builtin::Builtin;
use crate::texts::{TextId, Texts};

/// A type without variables: a place in [`Instances`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TypeId(pub(crate) u32);

/// A type without variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    /// Not known; the reason.
    Unknown(TextId),
    /// Values that are no blocks.
    Constant(TextId),
    /// `string`, `bytes`.
    String(TextId),
    Float,
    /// `int32` and the like.
    Boxed(TextId),
    /// A function whose type is not known. What any function is: its block does not depend on its type.
    Function,
    /// A function: the label of its argument, that, and its result.
    Arrow(TextId, TypeId, TypeId),
    Tuple(Box<[TypeId]>),
    Array(TypeId),
    FloatArray,
    Lazy(TypeId),
    Declared(DeclarationId, Box<[TypeId]>),
    /// A polymorphic variant's term, and the types of those tags that carry something.
    PolymorphicVariant(TermId, Box<[TypeId]>),
    /// An object's term, and the types of its methods.
    Object(TermId, Box<[TypeId]>),
    /// The block of a module, or of a first-class module.
    Module(ModuleId),
    /// The block of a compilation unit: a place among the roots.
    Unit(u32),
    /// A constructor of an extensible type itself.
    Extension(u32),
    /// One of several; the block itself says which.
    OneOf(Box<[TypeId]>),
}

/// More types than any program has: declarations whose arguments grow with each step would make types without end.
const MAX_TYPES: usize = 1 << 22;

/// Not looked at yet, in columns of numbers of types.
pub(crate) const NO_TYPE: u32 = u32::MAX;

/// All types that were met.
#[derive(Debug)]
pub(crate) struct Instances<'t> {
    pub(crate) table: &'t TypeTable,
    pub(crate) texts: Texts,
    types: Vec<Type>,
    known: HashTable<u32>,
    /// For each type how many of its parts are not known; 255 for more.
    unknowns: Vec<u8>,
    /// For each type what it stands for, where that was looked up.
    pub(crate) heads: Vec<u32>,
    /// For each term without variables its type, where that was made.
    pub(crate) ground: Vec<u32>,
    /// For each declaration what the runtime or the standard library makes of it.
    pub(crate) builtins: Vec<Builtin>,
}

impl<'t> Instances<'t> {
    pub(crate) fn new(table: &'t TypeTable) -> Self {
        Self {
            table,
            texts: Texts::default(),
            types: Vec::new(),
            known: HashTable::new(),
            unknowns: Vec::new(),
            heads: Vec::new(),
            ground: vec![NO_TYPE; table.terms.len()],
            builtins: table.declarations.iter().map(Builtin::of).collect(),
        }
    }

    /// The number of a type.
    pub(crate) fn id(&mut self, ty: Type) -> TypeId {
        let hash = hash(&ty);
        let types = &self.types;
        if let Some(id) = self.known.find(hash, |id| types[*id as usize] == ty) {
            return TypeId(*id);
        }
        if self.types.len() >= MAX_TYPES && !matches!(ty, Type::Unknown(_)) {
            return self.unknown("too many types");
        }
        let id = self.types.len() as u32;
        self.unknowns.push(self.count_unknowns(&ty));
        self.heads.push(NO_TYPE);
        self.types.push(ty);
        let types = &self.types;
        self.known.insert_unique(hash, id, |id| self::hash(&types[*id as usize]));
        TypeId(id)
    }

    fn count_unknowns(&self, ty: &Type) -> u8 {
        let of = |parts: &[TypeId]| {
            parts.iter().fold(0u8, |sum, part| sum.saturating_add(self.unknowns(*part)))
        };
        match ty {
            Type::Unknown(_) => 1,
            Type::Tuple(parts)
            | Type::PolymorphicVariant(_, parts)
            | Type::Object(_, parts)
            | Type::OneOf(parts) => of(parts),
            Type::Array(part) | Type::Lazy(part) => self.unknowns(*part),
            Type::Declared(declaration, arguments) => {
                let is_opaque = self.builtin(*declaration) == Builtin::None
                    && self
                        .table
                        .declaration(*declaration)
                        .is_none_or(|of| of.definition == Definition::Abstract);
                of(arguments).saturating_add(u8::from(is_opaque))
            }
            _ => 0,
        }
    }

    /// The type of a number.
    pub(crate) fn get(&self, id: TypeId) -> &Type {
        // Numbers come from `id` alone.
        &self.types[id.0 as usize]
    }

    /// How many parts of a type are not known.
    pub(crate) fn unknowns(&self, id: TypeId) -> u8 {
        self.unknowns.get(id.0 as usize).copied().unwrap_or(1)
    }

    /// The type that is not known for a reason.
    pub(crate) fn unknown(&mut self, reason: &str) -> TypeId {
        let reason = self.texts.id(reason);
        self.id(Type::Unknown(reason))
    }

    pub(crate) fn builtin(&self, declaration: DeclarationId) -> Builtin {
        self.builtins.get(declaration.0 as usize).copied().unwrap_or(Builtin::None)
    }
}

fn hash(ty: &Type) -> u64 {
    FxBuildHasher.hash_one(ty)
}
