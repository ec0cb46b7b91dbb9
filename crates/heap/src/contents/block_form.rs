//! What is seen of a block without looking at others, in one byte.

use crate::read::Block;
use crate::tag;

/// Tag, size and which fields point to blocks, as far as rules need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockForm(u8);

/// Up to so many fields of a block of tag 0, the form says which of them point to blocks.
const MAX_FIELDS: u64 = 5;

/// The first forms of blocks of tag 0 with one field, two fields and so on: each has as many forms as there are
/// sets of fields.
const FIRST: [u8; 6] = [0, 16, 18, 22, 30, 46];
const END: u8 = 78;

impl BlockForm {
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

    /// The form that is stored as this byte.
    pub(super) const fn of_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The byte that it is stored as.
    pub(super) const fn byte(self) -> u8 {
        self.0
    }

    /// Which rules look at the fields of blocks of this form.
    #[inline]
    pub(super) fn candidate(self) -> Candidate {
        CANDIDATES.get(usize::from(self.0)).copied().unwrap_or(Candidate::None)
    }

    /// What each field of a block of tag 0 with so many fields points to, from its pointers in order;
    /// [`NO_TARGET`] if it is no pointer.
    #[inline]
    pub(super) fn targets<const N: usize>(self, pointers: &[u32]) -> [u32; N] {
        let mut all = [NO_TARGET; N];
        let mut mask = self.mask(N).unwrap_or(0);
        for target in pointers {
            if let Some(into) = all.get_mut(mask.trailing_zeros() as usize) {
                *into = *target;
            }
            mask &= mask.wrapping_sub(1);
        }
        all
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

/// Blocks of tag 0 of which some rule looks at the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    /// Two fields.
    Pair,
    /// Three fields.
    Triple,
    /// Four fields, of which the last is an immediate.
    Quad,
    /// Four fields, of which the first and the last are pointers.
    Ends,
    /// Five fields, of which the last is an immediate.
    Quint,
    /// None of these.
    None,
}

impl Candidate {
    /// How many sorts there are, without none.
    pub(super) const COUNT: usize = Self::None as usize;
}

/// By form.
const CANDIDATES: [Candidate; END as usize] = {
    let mut of = [Candidate::None; END as usize];
    let mut form = FIRST[2];
    while form < END {
        of[form as usize] = if form < FIRST[3] {
            Candidate::Pair
        } else if form < FIRST[4] {
            Candidate::Triple
        } else if form < FIRST[5] {
            match form - FIRST[4] {
                0b1001 => Candidate::Ends,
                mask if mask & 0b1000 == 0 => Candidate::Quad,
                _ => Candidate::None,
            }
        } else if (form - FIRST[5]) & 0b1_0000 == 0 {
            Candidate::Quint
        } else {
            Candidate::None
        };
        form += 1;
    }
    of
};

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
                let form = BlockForm::new(&block, fields);
                for fields in 0..8 {
                    let expected = (fields as u64 == wosize).then_some(mask);
                    assert_eq!(form.mask(fields), expected, "{wosize} {mask}");
                }
                assert_eq!(form.sort(), Sort::Constructor);
                let candidate = match (wosize, mask) {
                    (2, _) => Candidate::Pair,
                    (3, _) => Candidate::Triple,
                    (4, 0..=7) => Candidate::Quad,
                    (4, 0b1001) => Candidate::Ends,
                    (5, 0..=15) => Candidate::Quint,
                    _ => Candidate::None,
                };
                assert_eq!(form.candidate(), candidate, "{wosize} {mask}");
                if wosize == 5 {
                    let pointers: Vec<u32> = (0..8).filter(|at| mask >> at & 1 != 0).collect();
                    for (field, target) in (0..).zip(form.targets::<5>(&pointers)) {
                        let is_pointer = mask >> field & 1 != 0;
                        assert_eq!(target, if is_pointer { field } else { NO_TARGET });
                    }
                }
            }
        }
    }
}
