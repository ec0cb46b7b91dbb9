//! Kinds of blocks: by type where that is known, by tag, by function for closures, by identifier for custom
//! blocks, by name for constructors, objects and polymorphic variants.

use std::fmt::Write as _;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::function_place::FunctionPlace;
use super::heap::Heap;
use crate::block_types::{BlockType, BlockTypeId, BlockTypes, FieldNames};
use crate::read::{Block, Columns, Function, HAS_DATA, ObjectName, Snapshot};
use crate::tag;
use crate::units::BlockIndex;

/// What sort of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A closure, by the number of its function.
    Closure(u32),
    /// A custom block, by the number of its identifier.
    Custom(u32),
    /// Memory outside the heap that custom blocks share, by the number of its name.
    OffHeap(u32),
    /// A string or bytes.
    String,
    /// A boxed float.
    Float,
    /// An array or record of floats.
    Floats,
    /// A block that the runtime does not look into.
    Abstract,
    /// A continuation (OCaml 5). (4.x: a constructor.)
    Continuation,
    /// A lazy value.
    Lazy,
    /// A forced lazy value.
    Forward,
    /// An ephemeron whose data is set.
    Ephemeron,
    /// A weak array, or an ephemeron without data.
    WeakArray,
    /// An object, by how many fields it has; or an exception's or extension's constructor.
    Object(u64),
    /// The same, by the number of its name.
    NamedObject(u32),
    /// A polymorphic variant with an argument, by the number of its hash.
    Variant(u32),
    /// A tuple, record, constructor or array: tag, and how many fields. From 33 on, sizes that need
    /// as many bits are one kind, named by the smallest.
    Fields(u8, u64),
    /// A block whose type is known, by the number of that.
    Typed(BlockTypeId),
}

/// Up to so many fields, each size is a kind of its own.
const MAX_EXACT: u64 = 32;

/// So many fields are elements of an array; records of 40 fields exist.
const ELEMENTS: u64 = 64;

impl Kind {
    /// The kind of a block of which nothing is known but tag and size.
    fn plain(block: &Block<'_>) -> Self {
        let fields = block.wosize.0;
        match block.tag {
            tag::STRING => Self::String,
            tag::DOUBLE => Self::Float,
            tag::DOUBLE_ARRAY => Self::Floats,
            tag::ABSTRACT => Self::Abstract,
            tag::CONTINUATION => Self::Continuation,
            tag::LAZY => Self::Lazy,
            tag::FORWARD => Self::Forward,
            tag::OBJECT => Self::Object(fields),
            tag if fields <= MAX_EXACT => Self::Fields(tag, fields),
            tag => Self::Fields(tag, (1 << fields.ilog2()).max(MAX_EXACT + 1)),
        }
    }

    /// Whether it has so many fields that they are elements.
    pub(super) fn has_elements(self, types: &BlockTypes) -> bool {
        match self {
            Self::Fields(_, fields) => fields >= ELEMENTS,
            Self::Typed(id) => {
                types.get(id).is_some_and(|known| known.fields == FieldNames::Elements)
            }
            _ => false,
        }
    }

    /// Whether nothing is known of its blocks but tag and size.
    pub(super) const fn is_untyped(self) -> bool {
        matches!(self, Self::Fields(..) | Self::Object(_))
    }

    /// How its type was found, if it is one.
    pub(super) fn derivation(self, types: &BlockTypes) -> Option<&'static str> {
        match self {
            Self::Typed(id) => types.get(id).map(|known| known.derivation.name()),
            _ => None,
        }
    }

    /// Where the function is, if it is one of closures.
    pub(super) fn function_place(self, snapshot: &Snapshot<'_>) -> Option<FunctionPlace> {
        match self {
            Self::Closure(number) => FunctionPlace::of(snapshot.functions.get(number as usize)?),
            _ => None,
        }
    }

    /// Whether it is the kind that somebody means by a name: also that of a closure without its place, and
    /// that of custom blocks by their identifier.
    pub fn is_called(self, snapshot: &Snapshot<'_>, types: &BlockTypes, wanted: &str) -> bool {
        let without_place = || match self {
            Self::Closure(number) => snapshot
                .functions
                .get(number as usize)
                .is_some_and(|one| !one.name.is_empty() && call(one).as_str() == wanted),
            Self::Custom(number) => wanted
                .strip_prefix("custom ")
                .is_some_and(|wanted| identifier(snapshot, number) == wanted.as_bytes()),
            _ => false,
        };
        self.name(snapshot, types) == wanted || without_place()
    }

    /// Its name, which is the same in all snapshots of a program.
    pub fn name(self, snapshot: &Snapshot<'_>, types: &BlockTypes) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::Typed(id) => types.get(id).map_or_else(String::new, BlockType::text),
            Self::Closure(number) => {
                snapshot.functions.get(number as usize).map_or_else(|| "closure".into(), closure)
            }
            Self::Custom(number) => custom_name(identifier(snapshot, number)),
            Self::OffHeap(number) => {
                format!("off-heap {}", text(identifier(snapshot, number)))
            }
            Self::String => "string".into(),
            Self::Float => "float".into(),
            Self::Floats => "float array".into(),
            Self::Abstract => "abstract".into(),
            Self::Continuation => "continuation".into(),
            Self::Lazy => "lazy".into(),
            Self::Forward => "lazy (forced)".into(),
            Self::Ephemeron => "ephemeron".into(),
            Self::WeakArray => "weak array".into(),
            Self::Object(fields) => format!("object, {}", plural(fields)),
            Self::NamedObject(number) => match snapshot.objects.names.get(number as usize) {
                Some(ObjectName::Constructor(name)) => format!("constructor {}", text(name)),
                Some(ObjectName::MethodsOf(classes)) if classes.is_empty() => {
                    "object of an unknown class".into()
                }
                Some(ObjectName::MethodsOf(classes)) => {
                    format!("object with methods of {}", text(classes))
                }
                None => "object".into(),
            },
            Self::Variant(number) => {
                let name = snapshot.immediates.variant(number).unwrap_or_default();
                format!("`{}, 1 argument", text(name))
            }
            Self::Fields(tag, fields) if fields <= MAX_EXACT => {
                format!("tag {tag}, {}", plural(fields))
            }
            Self::Fields(tag, fields) => {
                format!("tag {tag}, {fields} to {} fields", (fields + 1).next_power_of_two() - 1)
            }
        }
    }
}

fn plural(fields: u64) -> String {
    if fields == 1 { "1 field".into() } else { format!("{fields} fields") }
}

/// The identifier of custom blocks of a number.
fn identifier<'s>(snapshot: &'s Snapshot<'_>, number: u32) -> &'s [u8] {
    snapshot.customs.get(number as usize).map_or(&[][..], Vec::as_slice)
}

/// What a closure is of.
fn call(function: &Function) -> String {
    let mut name =
        String::from(if function.is_partial { "partial application" } else { "closure" });
    if !function.name.is_empty() {
        let of = if function.is_partial { " of " } else { " " };
        name += of;
        name += &String::from_utf8_lossy(&function.name);
    }
    name
}

/// A closure's name: its function, and where that is. An anonymous function's column distinguishes it
/// from others of its line.
pub(super) fn closure(function: &Function) -> String {
    let mut name = call(function);
    if !function.file.is_empty() {
        let at = if function.name.is_empty() { " at " } else { " " };
        name += at;
        name += &String::from_utf8_lossy(&function.file);
        if function.line > 0 {
            let _ = write!(name, ":{}", function.line);
            if function.is_anonymous() {
                let _ = write!(name, ":{}", function.column);
            }
        } else if let Some(between) = function.between {
            let _ = write!(name, ":{between}");
        }
    }
    name
}

/// Custom blocks that have a name of their own, by identifier (`runtime/ints.c`, `runtime/bigarray.c`,
/// `runtime/io.c`, `runtime/sync.c`, `otherlibs/systhreads`).
const CUSTOMS: [(&str, &str); 9] = [
    ("_i", "int32"),
    ("_j", "int64"),
    ("_n", "nativeint"),
    ("_bigarr02", "bigarray"),
    ("_bigarray", "bigarray of a mapped file"),
    ("_chan", "channel"),
    ("_mutex", "mutex"),
    ("_condition", "condition variable"),
    ("_threadstatus", "thread status"),
];

/// What custom blocks with an identifier are.
fn custom_name(identifier: &[u8]) -> String {
    let identifier = String::from_utf8_lossy(identifier);
    match CUSTOMS.iter().find(|(known, _)| *known == identifier) {
        Some((_, name)) => (*name).into(),
        None if identifier.is_empty() => "custom".into(),
        None => format!("custom {identifier}"),
    }
}

/// The identifier of custom blocks whose kind has this name.
pub(super) fn identifier_of(kind: &str) -> Option<String> {
    let known = CUSTOMS.iter().find(|(_, name)| *name == kind).map(|(identifier, _)| *identifier);
    known.or_else(|| kind.strip_prefix("custom ")).map(str::to_owned)
}

/// Where the functions of closures are, by the names of their kinds.
pub(super) fn function_places(heap: &Heap<'_>) -> HashMap<String, FunctionPlace, FxBuildHasher> {
    let functions = &heap.snapshot.functions;
    functions.iter().filter_map(|one| Some((closure(one), FunctionPlace::of(one)?))).collect()
}

/// Hands out a section's blocks with their kinds, and bytes outside the heap that go with them.
pub(super) fn each<'c>(
    heap: &Heap<'_>,
    columns: &'c Columns,
    mut each: impl FnMut(Block<'c>, Kind, u64),
) {
    let snapshot = &heap.snapshot;
    let mut closures = columns.closures().peekable();
    let mut customs = columns.customs().peekable();
    let first = columns.first;
    let mut objects = snapshot.objects.blocks.from(first).peekable();
    let mut weak = snapshot.weak().from(first).peekable();
    let variant = |(_, number): &(BlockIndex, u32)| snapshot.immediates.variant(*number).is_some();
    let mut variants = snapshot.immediates.blocks.from(first).filter(variant).peekable();
    for (place, block) in columns.iter().enumerate() {
        let here = block.index;
        if let Some((_, function)) = closures.next_if(|(at, _)| *at == place) {
            each(block, Kind::Closure(function), 0);
        } else if let Some((_, identifier, external)) = customs.next_if(|(at, ..)| *at == place) {
            each(block, custom(&block, identifier), external);
        } else {
            let object = objects.next_if(|(at, _)| *at == here).map(|found| found.1);
            let weak = weak.next_if(|(at, _)| *at == here).map(|found| found.1);
            let variant = variants.next_if(|(at, _)| *at == here).map(|found| found.1);
            each(block, marked(heap, &block, object, weak, variant), 0);
        }
        // Numbers of a damaged file may be of closures and custom blocks.
        while objects.next_if(|(at, _)| *at <= here).is_some() {}
        while weak.next_if(|(at, _)| *at <= here).is_some() {}
        while variants.next_if(|(at, _)| *at <= here).is_some() {}
    }
}

/// The kind of a block that is neither closure nor custom: its type, if that is known, or what is known of it
/// beside its tag and size.
#[inline]
fn marked(
    heap: &Heap<'_>,
    block: &Block<'_>,
    object: Option<u32>,
    weak: Option<u32>,
    variant: Option<u32>,
) -> Kind {
    let known = heap.types.id(block.index);
    if known != BlockTypeId(0) {
        return Kind::Typed(known);
    }
    match (block.tag, block.wosize.0) {
        (tag::OBJECT, fields) => object.map_or(Kind::Object(fields), Kind::NamedObject),
        (tag::ABSTRACT, _) => match weak {
            Some(HAS_DATA) => Kind::Ephemeron,
            Some(_) => Kind::WeakArray,
            None => Kind::Abstract,
        },
        (0, 2) => variant.map_or_else(|| Kind::plain(block), Kind::Variant),
        _ => Kind::plain(block),
    }
}

/// The kind of a block with an identifier.
const fn custom(block: &Block<'_>, identifier: u32) -> Kind {
    if block.is_off_heap() { Kind::OffHeap(identifier) } else { Kind::Custom(identifier) }
}

/// The kind of the block at a place of a section.
pub(super) fn at(heap: &Heap<'_>, columns: &Columns, place: usize) -> Option<Kind> {
    let snapshot = &heap.snapshot;
    let block = columns.get(place)?;
    Some(match block.tag {
        tag::CLOSURE => Kind::Closure(
            columns.closures().find(|(at, _)| *at == place).map_or(u32::MAX, |found| found.1),
        ),
        tag::CUSTOM | tag::OFF_HEAP => {
            let found = columns.customs().find(|(at, ..)| *at == place);
            custom(&block, found.map_or(u32::MAX, |found| found.1))
        }
        _ => {
            let hash = snapshot.immediates.blocks.get(block.index);
            let variant = hash.filter(|number| snapshot.immediates.variant(*number).is_some());
            let object = snapshot.objects.blocks.get(block.index);
            marked(heap, &block, object, snapshot.weak().get(block.index), variant)
        }
    })
}
