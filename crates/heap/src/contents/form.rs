//! What is seen of a block without looking at others, in one byte.

use crate::read::{Block, Columns};
use crate::tag;

/// Tag, size and which fields point to blocks, as far as rules need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form(u8);

/// Up to so many fields of a block of tag 0, the form says which of them point to blocks.
const MAX_FIELDS: u64 = 5;

/// The first forms of blocks of tag 0 with one field, two fields and so on: each has as many forms as there are
/// sets of fields.
const FIRST: [u8; 6] = [0, 16, 18, 22, 30, 46];
const END: u8 = 78;

impl Form {
    /// None of those below: a constructor that is not the first of its type, an abstract block.
    pub(super) const OTHER: Self = Self(0);
    /// A string or bytes.
    pub(super) const STRING: Self = Self(1);
    /// A boxed float.
    const FLOAT: Self = Self(2);
    /// A closure.
    const CLOSURE: Self = Self(3);
    /// A custom block.
    const CUSTOM: Self = Self(4);
    /// Tag 0, and more fields than the form tells of.
    pub(super) const LARGE: Self = Self(5);

    /// The form of a block; `fields` are those that point to blocks.
    pub(super) fn new(block: &Block<'_>, fields: impl Iterator<Item = u64>) -> Self {
        match (block.tag, block.wosize.0) {
            (0, 0) => Self::OTHER,
            (0, wosize @ ..=MAX_FIELDS) => {
                let mask =
                    fields.filter(|field| *field < wosize).fold(0, |mask, field| mask | 1 << field);
                Self(FIRST[wosize as usize] + mask)
            }
            (0, _) => Self::LARGE,
            (tag::STRING, _) => Self::STRING,
            (tag::DOUBLE, _) => Self::FLOAT,
            (tag::CLOSURE, _) => Self::CLOSURE,
            (tag::CUSTOM, _) => Self::CUSTOM,
            _ => Self::OTHER,
        }
    }

    /// Of a block of tag 0 with so many fields: those that point to blocks, a bit each.
    #[inline]
    pub(super) fn mask(self, fields: usize) -> Option<u8> {
        let first = *FIRST.get(fields)?;
        let end = FIRST.get(fields + 1).copied().unwrap_or(END);
        (first > 0 && (first..end).contains(&self.0)).then(|| self.0 - first)
    }

    /// What a value of this form is, where that cannot differ between values of a type.
    pub(super) fn sort(self) -> Sort {
        match self {
            Self::STRING => Sort::String,
            Self::FLOAT => Sort::Float,
            Self::CLOSURE => Sort::Closure,
            Self::CUSTOM => Sort::Custom,
            _ => Sort::Constructor,
        }
    }
}

/// What values of one type have in common: one is a string where all are. Immediates and blocks with fields may
/// be of one type, as constructors of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sort {
    String,
    Float,
    Closure,
    Custom,
    Constructor,
}

/// Decodes all fields of small blocks: for each field what it points to, [`NO_TARGET`] if it is no pointer.
#[inline]
pub(super) fn targets<const N: usize>(
    columns: &Columns,
    place: usize,
    block: &Block<'_>,
) -> [u32; N] {
    let mut all = [NO_TARGET; N];
    for (field, target) in columns.fields(place).zip(block.targets) {
        if let Some(into) = all.get_mut(field as usize) {
            *into = *target;
        }
    }
    all
}

/// Of a field that is no pointer to a block.
pub(super) const NO_TARGET: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BlockIndex, Words};

    #[test]
    fn forms_of_small_blocks_say_which_fields_are_pointers() {
        for wosize in 1..=5u64 {
            for mask in 0..1u8 << wosize {
                let block =
                    Block { index: BlockIndex(0), tag: 0, wosize: Words(wosize), targets: &[] };
                let fields = (0..8).filter(|field| mask >> field & 1 != 0);
                let form = Form::new(&block, fields);
                for fields in 0..8 {
                    let expected = (fields as u64 == wosize).then_some(mask);
                    assert_eq!(form.mask(fields), expected, "{wosize} {mask}");
                }
                assert_eq!(form.sort(), Sort::Constructor);
            }
        }
    }
}
