//! What is known of a block while types flow, in 32 bits.

use memtrail_heap::Derivation;
use zerocopy::FromBytes;

use crate::shape::ShapeId;
use crate::texts::TextId;

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing leads to it yet.
    Untouched,
    /// Pointers that lead to it do not say its type; the reason.
    Unknown(TextId),
    /// Its type.
    Typed(ShapeId, Derivation),
}

const UNKNOWN: u32 = 1 << 31;
const THROUGH_CLOSURE: u32 = 1 << 30;
const BY_CONTENTS: u32 = 1 << 29;
/// The bits of a shape's number, plus one.
const SHAPE: u32 = BY_CONTENTS - 1;

/// A state in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes)]
pub(crate) struct Packed(u32);

impl Packed {
    #[inline]
    pub(crate) const fn get(self) -> State {
        match self.0 {
            0 => State::Untouched,
            bits if bits & UNKNOWN != 0 => State::Unknown(TextId(bits & !UNKNOWN)),
            bits => {
                let derivation = match bits & !SHAPE {
                    0 => Derivation::Variable,
                    THROUGH_CLOSURE => Derivation::Closure,
                    _ => Derivation::Contents,
                };
                State::Typed(ShapeId((bits & SHAPE).saturating_sub(1)), derivation)
            }
        }
    }
}

impl From<State> for Packed {
    #[inline]
    fn from(state: State) -> Self {
        Self(match state {
            State::Untouched => 0,
            State::Unknown(reason) => UNKNOWN | reason.0,
            State::Typed(shape, derivation) => {
                let how = match derivation {
                    Derivation::Variable => 0,
                    Derivation::Closure => THROUGH_CLOSURE,
                    Derivation::Contents => BY_CONTENTS,
                };
                how | ((shape.0 + 1) & SHAPE)
            }
        })
    }
}
