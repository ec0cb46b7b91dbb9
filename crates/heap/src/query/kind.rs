//! Kinds of blocks: by type where that is known, by tag, by function for closures, by identifier for custom blocks.

use crate::block_types::{BlockType, BlockTypeId, BlockTypes, FieldNames};
use crate::read::{Block, Columns, Snapshot};
use crate::tag;

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
    /// An object, by how many fields it has; or an exception's or extension's constructor.
    Object(u64),
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
    /// The kind of a block that is neither closure nor custom: its type, if that is known.
    #[inline]
    fn of(block: &Block<'_>, types: &BlockTypes) -> Self {
        match types.id(block.index) {
            BlockTypeId(0) => Self::plain(block),
            id => Self::Typed(id),
        }
    }

    /// The same without its type.
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

    /// How its type was found, if it is one.
    pub(super) fn derivation(self, types: &BlockTypes) -> Option<&'static str> {
        match self {
            Self::Typed(id) => types.get(id).map(|known| known.derivation.name()),
            _ => None,
        }
    }

    /// Its name, which is the same in all snapshots of a program.
    pub fn name(self, snapshot: &Snapshot<'_>, types: &BlockTypes) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::Typed(id) => types.get(id).map_or_else(String::new, BlockType::text),
            Self::Closure(number) => match snapshot.functions.get(number as usize) {
                Some(function) if !function.name.is_empty() => {
                    format!("closure {}", text(&function.name))
                }
                Some(function) if !function.file.is_empty() => {
                    format!("closure at {}:{}", text(&function.file), function.line)
                }
                _ => "closure".into(),
            },
            Self::Custom(number) => match snapshot.customs.get(number as usize) {
                Some(identifier) if !identifier.is_empty() => {
                    format!("custom {}", text(identifier))
                }
                _ => "custom".into(),
            },
            Self::OffHeap(number) => {
                let name = snapshot.customs.get(number as usize).map_or(&[][..], Vec::as_slice);
                format!("off-heap {}", text(name))
            }
            Self::String => "string".into(),
            Self::Float => "float".into(),
            Self::Floats => "float array".into(),
            Self::Abstract => "abstract".into(),
            Self::Continuation => "continuation".into(),
            Self::Lazy => "lazy".into(),
            Self::Forward => "lazy (forced)".into(),
            Self::Object(fields) => format!("object, {}", plural(fields)),
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

/// Hands out a section's blocks with their kinds, and bytes outside the heap that go with them.
pub(super) fn each<'c>(
    types: &BlockTypes,
    columns: &'c Columns,
    mut each: impl FnMut(Block<'c>, Kind, u64),
) {
    let mut closures = columns.closures().peekable();
    let mut customs = columns.customs().peekable();
    for (place, block) in columns.iter().enumerate() {
        if let Some((_, function)) = closures.next_if(|(at, _)| *at == place) {
            each(block, Kind::Closure(function), 0);
        } else if let Some((_, identifier, external)) = customs.next_if(|(at, ..)| *at == place) {
            each(block, custom(&block, identifier), external);
        } else {
            each(block, Kind::of(&block, types), 0);
        }
    }
}

/// The kind of a block with an identifier.
const fn custom(block: &Block<'_>, identifier: u32) -> Kind {
    if block.is_off_heap() { Kind::OffHeap(identifier) } else { Kind::Custom(identifier) }
}

/// The kind of the block at a place of a section.
pub(super) fn at(types: &BlockTypes, columns: &Columns, place: usize) -> Option<Kind> {
    let block = columns.get(place)?;
    Some(match block.tag {
        tag::CLOSURE => Kind::Closure(
            columns.closures().find(|(at, _)| *at == place).map_or(u32::MAX, |found| found.1),
        ),
        tag::CUSTOM | tag::OFF_HEAP => {
            let found = columns.customs().find(|(at, ..)| *at == place);
            custom(&block, found.map_or(u32::MAX, |found| found.1))
        }
        _ => Kind::of(&block, types),
    })
}
