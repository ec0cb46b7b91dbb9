//! Labels: what a root is, as a tree from the coarse (a thread) to the fine (a slot of a frame), and
//! how it holds its value.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::units::LabelId;
use crate::variable_places::{Position, VariablePlace};

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal $text:literal),* $(,)? } else $other:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$variant_doc])* $variant = $code),* }

        impl $name {
            /// All of them, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its number in files.
            pub const fn code(self) -> u8 { self as u8 }

            /// The one with this number; a number of later versions is `Other`.
            pub const fn from_code(code: u8) -> Self {
                match code { $($code => Self::$variant,)* _ => Self::$other }
            }

            /// Its name, as commands take and print it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}

numbered! {
    /// What sort of thing holds a value from outside the heap.
    RootKind {
        /// A module's global data.
        Global = 0 "global",
        /// A slot of an OCaml stack frame, or a register saved with it.
        Stack = 1 "stack",
        /// A variable that C code registered for the time of a call (`CAMLparam`, `CAMLlocal`).
        LocalC = 2 "local-c",
        /// A variable that C code registered for good.
        GlobalC = 3 "global-c",
        /// A finaliser: its function, and the value if only it retains that.
        Finaliser = 4 "finaliser",
        /// The statistical profiler's tables.
        Memprof = 5 "memprof",
        /// What hooks of the runtime and its libraries scan.
        Hook = 6 "hook",
        /// State of a domain.
        Domain = 7 "domain",
        /// The runtime's lists of ephemerons.
        Ephemeron = 8 "ephemeron",
        /// Blocks in the program's data segment, which are never freed.
        Static = 9 "static",
        /// Anything else.
        Other = 255 "other",
    } else Other
}

numbered! {
    /// Which part of its kind of root a label is.
    LabelRole {
        /// A module: `name`.
        Unit = 0 "unit",
        /// A field of the parent's block: `number`.
        Field = 1 "field",
        /// A symbol of the program or a library: `name`.
        Symbol = 2 "symbol",
        /// A domain: `number`.
        Domain = 3 "domain",
        /// A thread: `number`.
        Thread = 4 "thread",
        /// A fiber: `number`.
        Fiber = 5 "fiber",
        /// A stack frame: function `name`, `file`, line `number`.
        Frame = 6 "frame",
        /// A slot of a frame: `number`.
        Slot = 7 "slot",
        /// A function: `name`.
        Function = 8 "function",
        /// A whole kind of root.
        Kind = 9 "kind",
        /// Something else that has a `name`.
        Other = 255 "other",
    } else Other
}

/// The label of static data that those of the runtime's own exceptions are below, each with its name.
pub const PREDEFINED_EXCEPTIONS: &[u8] = b"predefined exceptions";

/// How a root holds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Strength {
    /// It retains the value.
    Strong = 0,
    /// A value with a finaliser (`Gc.finalise`): retained until that has run. Charged with it
    /// only where nothing else keeps it.
    Finaliser = 1,
    /// A value with a `Gc.finalise_last`: not retained.
    Last = 2,
    /// Not retained.
    Weak = 3,
}

/// One label. Texts are as the target has them, which need not be UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The coarser label above; at the top, the kind of root is above it.
    pub parent: Option<LabelId>,
    /// What sort of root.
    pub kind: RootKind,
    /// What the label is within its kind.
    pub part: LabelRole,
    /// A name, as [`LabelRole`] says; 0 is the empty one.
    pub(crate) name: u32,
    /// A source file; 0 is the empty one.
    pub(crate) file: u32,
    /// A number, as [`LabelRole`] says.
    pub number: u64,
}

/// The labels of a snapshot.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "the labels are what it is about")]
pub struct Labels {
    pub(crate) labels: Vec<Label>,
    pub(crate) texts: Texts,
    /// What fields of modules' blocks are in the program's source, where that is known. Not in the file.
    variables: HashMap<LabelId, Variable, FxBuildHasher>,
    /// Where values of variables are computed.
    places: HashMap<LabelId, VariablePlace, FxBuildHasher>,
}

/// A global variable, as the program's source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its path inside its unit: `Cache.table`.
    pub name: String,
    /// Its type, or what it is if it has none: `int ref`, `module`. May be empty.
    pub ty: String,
    /// Where it is defined: `cache.ml:12`.
    pub position: Option<String>,
}

impl Default for Labels {
    fn default() -> Self {
        Self::new()
    }
}

impl Labels {
    /// None yet.
    pub fn new() -> Self {
        Self {
            labels: Vec::new(),
            texts: Texts::new(),
            variables: HashMap::default(),
            places: HashMap::default(),
        }
    }

    /// Adds a label below `parent`, which must have come before it.
    pub fn add(
        &mut self,
        parent: Option<LabelId>,
        kind: RootKind,
        part: LabelRole,
        name: &[u8],
        file: &[u8],
        number: u64,
    ) -> LabelId {
        let (name, file) = (self.texts.intern(name), self.texts.intern(file));
        let id = LabelId(self.labels.len() as u32);
        let parent = parent.filter(|parent| *parent < id);
        self.labels.push(Label { parent, kind, part, name, file, number });
        id
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// A label; of an id that is none, the first.
    pub fn get(&self, id: LabelId) -> Option<&Label> {
        self.labels.get(id.0 as usize)
    }

    /// All of them with their ids; parents come before children.
    pub fn iter(&self) -> impl Iterator<Item = (LabelId, &Label)> {
        (0..).map(LabelId).zip(&self.labels)
    }

    /// Whether a label is the symbol of an operation's result, which has no name in the source: `Pmakeblock_1251`. Compilers
    /// with flambda make symbols for these, too, that begin with a capital or are parts of calls
    /// (`middle_end/internal_variable_names.ml`); those of variables are `table`, `table_12`.
    pub fn is_operation(&self, id: LabelId) -> bool {
        let is_symbol =
            |label: &&Label| label.kind == RootKind::Global && label.part == LabelRole::Symbol;
        self.get(id).filter(is_symbol).is_some_and(|label| {
            let name = self.name(label);
            let is_variable = |first: &u8| first.is_ascii_lowercase() || *first == b'_';
            name.starts_with(b"apply_") || !name.first().is_some_and(is_variable)
        })
    }

    /// Notes what a field of a module's block is.
    pub fn set_variable(&mut self, id: LabelId, variable: Variable) {
        self.variables.insert(id, variable);
    }

    /// What a field of a module's block is, if that is known.
    pub fn variable(&self, id: LabelId) -> Option<&Variable> {
        self.variables.get(&id)
    }

    /// Notes where the value of a variable is computed.
    pub fn set_place(&mut self, id: LabelId, place: VariablePlace) {
        if self.get(id).is_some() {
            self.places.insert(id, place);
        }
    }

    /// All such places, in the order of labels.
    pub fn places(&self) -> Vec<(LabelId, &VariablePlace)> {
        let mut all: Vec<_> = self.places.iter().map(|(id, place)| (*id, place)).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// Where a variable is defined, as exactly as that is known.
    pub fn position(&self, id: LabelId) -> Option<Position> {
        let defined = self.variable(id).and_then(|variable| variable.position.clone());
        let defined = defined.map(|text| Position { text, derivation: "cmt" });
        defined.or_else(|| self.places.get(&id).map(VariablePlace::position))
    }

    /// All that are known, in the order of labels.
    pub fn variables(&self) -> Vec<(LabelId, &Variable)> {
        let mut all: Vec<_> = self.variables.iter().map(|(id, variable)| (*id, variable)).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// A label's name.
    pub fn name(&self, label: &Label) -> &[u8] {
        self.texts.get(label.name)
    }

    /// A label's source file.
    pub fn file(&self, label: &Label) -> &[u8] {
        self.texts.get(label.file)
    }
}

/// Texts, each once, in one piece of memory. Number 0 is the empty one.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// By hash: numbers of texts with it. A collision is a text twice, which does no harm.
    known: HashMap<u64, u32, FxBuildHasher>,
}

impl Texts {
    pub(crate) fn new() -> Self {
        let mut texts = Self { bytes: Vec::new(), ends: Vec::new(), known: HashMap::default() };
        texts.intern(b"");
        texts
    }

    pub(crate) fn intern(&mut self, text: &[u8]) -> u32 {
        let hash = xxhash_rust::xxh3::xxh3_64(text);
        if let Some(&number) = self.known.get(&hash)
            && self.get(number) == text
        {
            return number;
        }
        let number = self.push(text);
        self.known.insert(hash, number);
        number
    }

    /// Adds a text without looking whether it is there.
    pub(crate) fn push(&mut self, text: &[u8]) -> u32 {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u32);
        self.ends.len() as u32 - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A text; of a number that is none, the empty one.
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        let Some(&end) = self.ends.get(number as usize) else { return b"" };
        let start = match number {
            0 => 0,
            number => self.ends[number as usize - 1],
        };
        self.bytes.get(start as usize..end as usize).unwrap_or(b"")
    }
}
