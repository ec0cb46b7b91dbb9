//! Types as terms, and the declarations that give them a meaning.
//!
//! Terms are stored once each: equal terms have the same id. A term below a declaration speaks of the declaration's
//! variables by number. Arguments are not expanded when they are read: who follows types through a heap
//! expands the outermost declaration of a term and leaves its arguments as they are, so that recursive
//! abbreviations (`-rectypes`) have finite terms.

use crate::slot::{Position, Slot};

pub use crate::content::{Content, DeclarationId, ModuleId, TermId};

/// All terms, declarations and module layouts of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeTable {
    /// Terms; those that one has parts of come before it.
    pub terms: Vec<Term>,
    /// Declarations of types.
    pub declarations: Vec<Declaration>,
    /// Blocks of modules inside units, of functors' results and of first-class modules.
    pub modules: Vec<ModuleLayout>,
    /// Constructors of extensible types, exceptions among them.
    pub extensions: Vec<Extension>,
    /// Functions, by the symbol of their code.
    pub functions: Vec<Function>,
    /// What dynamic values hold, by their tags.
    pub dynamic: Vec<DynamicTag>,
    /// Where functions with a name are defined.
    pub named: Vec<NamedFunctions>,
}

/// Functions with a name that a unit defines, functors among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFunctions {
    /// The unit.
    pub unit: String,
    /// Its functions, in the order of the source.
    pub functions: Vec<NamedFunction>,
}

/// A function with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFunction {
    /// How its symbol ends: its name, and its number in the unit's files (`add_271`).
    pub name: String,
    /// Where it is defined, if that is known.
    pub position: Option<Position>,
}

/// A tag of dynamic values, `Dyn : 'a tag * 'a -> t`: what a call made of a name, such as `(create "page" : page tag)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicTag {
    /// The type of such tags.
    pub of: DeclarationId,
    /// The tag: the hash of its name.
    pub hash: u32,
    /// The type of the values that have it.
    pub ty: TermId,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Not known: an existential, an unresolved path, a type variable that nothing binds. The text says which.
    Unknown(String),
    /// A variable of the declaration, constructor or function that the term belongs to.
    Variable(u32),
    /// Values that are no blocks: `int`, `char`, `bool`, `unit`.
    Constant(String),
    /// `string` and `bytes`: the name.
    String(String),
    /// `float`.
    Float,
    /// Custom blocks of the runtime: `int32`, `int64`, `nativeint`.
    Boxed(String),
    /// A function whose type is not known, or a functor.
    Function,
    /// A function: `string -> int`.
    Arrow(Arrow),
    /// A tuple.
    Tuple(Vec<TermId>),
    /// `'a array`. Of floats, it is a block of floats.
    Array(TermId),
    /// `floatarray`.
    FloatArray,
    /// `'a lazy_t`.
    Lazy(TermId),
    /// A declared type with its arguments. `list`, `option`, `exn` and the like are declared, too.
    Declared(DeclarationId, Vec<TermId>),
    /// A polymorphic variant: its tags, in the order of their names.
    PolymorphicVariant(Vec<PolymorphicTag>),
    /// An object: methods in the order of their names.
    Object(Vec<Method>),
    /// A first-class module.
    Package(ModuleId),
}

/// A function's type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arrow {
    /// The argument's label as types have it: `x:`, `?x:`, or empty.
    pub label: String,
    /// The argument. Of an optional one, what callers give.
    pub argument: TermId,
    /// The result.
    pub result: TermId,
}

/// A tag of a polymorphic variant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PolymorphicTag {
    /// Its name, without the backquote.
    pub name: String,
    /// What it carries.
    pub argument: Option<TermId>,
}

/// A method of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TermId,
}

/// A declared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Its full path, readable: `Hashtbl.t`, `Map.Make(Names.KerName).t`, `list`.
    pub name: String,
    /// Where it is declared, if known.
    pub position: Option<Position>,
    /// How many variables its terms speak of.
    pub variables: u32,
    /// Its parameters: for most declarations `Variable(0)`, `Variable(1)` …; otherwise patterns that arguments
    /// are matched with to bind the variables.
    pub parameters: Vec<TermId>,
    /// What it is.
    pub definition: Definition,
}

/// What a declared type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Nothing more is known. The runtime's own abstract types are known by name (`Weak.t`).
    Abstract,
    /// Another type.
    Alias(TermId),
    /// A record.
    Record {
        /// Its fields, in order.
        fields: Vec<LabelledField>,
        /// All fields are floats: one block of floats.
        is_floats: bool,
    },
    /// Constructors.
    Variant(Vec<Constructor>),
    /// A record with one field or a constructor with one argument that is not boxed: values are those of this type.
    Unboxed(TermId),
    /// An extensible type: blocks are those of [`Extension`]s.
    Open,
}

impl Definition {
    /// The terms that it speaks of.
    pub fn terms(&self) -> Vec<TermId> {
        match self {
            Self::Abstract | Self::Open => Vec::new(),
            Self::Alias(term) | Self::Unboxed(term) => vec![*term],
            Self::Record { fields, .. } => fields.iter().map(|field| field.ty).collect(),
            Self::Variant(constructors) => {
                let arguments = constructors.iter().flat_map(|one| &one.arguments);
                arguments.map(|field| field.ty).collect()
            }
        }
    }
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledField {
    /// Its name; empty for arguments that have none.
    pub name: String,
    /// Its type.
    pub ty: TermId,
}

/// A constructor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructor {
    /// Its name.
    pub name: String,
    /// Its block's tag; `None` if it is a constant.
    pub tag: Option<u8>,
    /// What its block holds. Fields of an inline record have names.
    pub arguments: Vec<LabelledField>,
    /// Of a GADT's constructor: the arguments of the type that it results in, as patterns; `None` if these are the
    /// declaration's parameters. Variables from [`Declaration::variables`] on are the constructor's own.
    pub result: Option<Vec<TermId>>,
}

/// A constructor of an extensible type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its full path: `Not_found`, `Cache.Miss`.
    pub name: String,
    /// The type that it belongs to.
    pub of: DeclarationId,
    /// What its block holds behind the constructor itself. Variables are the extension's own.
    pub arguments: Vec<LabelledField>,
    /// As of [`Constructor::result`].
    pub result: Option<Vec<TermId>>,
    /// The arguments are those of an inline record.
    pub is_record: bool,
}

/// The block of a module that is no unit's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleLayout {
    /// Its path: `Cache.Table`, `Map.Make(String)`.
    pub name: String,
    /// What its fields hold, in order.
    pub slots: Vec<Slot>,
}

/// What a function's closure holds behind its code, as a compiler without flambda lays it out. Of functions that are
/// defined together, which share one closure, the first has a row. Functions with a name and without an environment have
/// none, unless they are inside one without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The symbol of its code, without the prefix `caml`: `Cache__add_271`, from OCaml 5.1 on `Cache.add_271`. For a
    /// function without a name what its symbol begins with: `Cache__fun`.
    pub symbol: String,
    /// Whether it has no name: then its place says which one it is.
    pub is_anonymous: bool,
    /// Where it is in its unit's source file.
    pub place: Option<Span>,
    /// Words of its closure before the environment.
    pub words_before: u32,
    /// Its free variables in the order of the closure's environment.
    pub environment: Vec<FreeVariable>,
    /// Where applications in its code start that may be partial ones of a function which the compiler knows. It makes
    /// a function without a name of such an application, at the same place.
    pub partial: Vec<Place>,
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 0.
    pub column: u32,
}

/// A part of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it starts.
    pub start: Place,
    /// Where it ends.
    pub end: Place,
}

/// A value that a closure captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeVariable {
    /// Its name.
    pub name: String,
    /// Its type; `None` if it is one of the compiler's own.
    pub ty: Option<TermId>,
}

impl TypeTable {
    /// A term.
    pub fn term(&self, id: TermId) -> Option<&Term> {
        self.terms.get(id.0 as usize)
    }

    /// A declaration.
    pub fn declaration(&self, id: DeclarationId) -> Option<&Declaration> {
        self.declarations.get(id.0 as usize)
    }

    /// The layout of a module's block.
    pub fn module(&self, id: ModuleId) -> Option<&ModuleLayout> {
        self.modules.get(id.0 as usize)
    }
}
