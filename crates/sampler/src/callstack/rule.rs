//! How the registers of a function's caller follow from its own.

/// What the frame's address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Stack,
    Frame,
}

/// Where a frame's address and the caller's registers are. The return address is in the word below the frame's
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The usual form.
    Frame {
        /// The frame's address: a register and so many bytes.
        base: Base,
        above: u32,
        /// How many bytes below the frame's address the caller's frame pointer is; 0 if it is still in its register.
        saved: u32,
    },
    /// The frame's address is kept in memory: the caller is on another stack, or the frame was aligned.
    Kept(Kept),
    /// There is no caller.
    Outermost,
    /// Only libgcc's unwinder can tell.
    Other,
}

/// Where a frame's address is kept in memory, as the runtime of OCaml 5 does where it changes stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) base: Base,
    /// The register and so many bytes is where a pointer is.
    pub(super) at: i16,
    /// The pointer and so many bytes is the frame's address, …
    pub(super) above: u8,
    /// … or, of the runtime's handlers, where another pointer is, from which so many bytes are counted.
    pub(super) second: Option<u8>,
    /// As in a frame of the usual form.
    pub(super) saved: u8,
}

/// Bits of a number of bytes.
const BITS: u32 = 28;
const MASK: u64 = (1 << BITS) - 1;

const FROM_STACK: u64 = 1;
const FROM_FRAME: u64 = 2;
const OUTERMOST: u64 = 3;
const OTHER: u64 = 4;
const KEPT_FROM_STACK: u64 = 5;
const KEPT_FROM_FRAME: u64 = 6;

/// A rule as a word, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packed(pub(super) u64);

impl Packed {
    /// What a rule of the usual form has: the base, the bytes above it, and those to the caller's frame pointer. A walk takes as
    /// long as this does, so nothing is put into memory on the way.
    #[inline]
    pub(super) const fn usual(self) -> Option<(Base, u32, u32)> {
        let base = match self.0 & 0xFF {
            FROM_STACK => Base::Stack,
            FROM_FRAME => Base::Frame,
            _ => return None,
        };
        Some((base, (self.0 >> 8 & MASK) as u32, (self.0 >> (8 + BITS)) as u32))
    }
}

impl Rule {
    /// The rule of the usual form, if these numbers fit.
    pub(super) fn frame(base: Base, above: i64, saved: i64) -> Self {
        let fitting = |number: i64| u32::try_from(number).ok().filter(|&n| u64::from(n) <= MASK);
        match (fitting(above), fitting(saved)) {
            (Some(above), Some(saved)) => Self::Frame { base, above, saved },
            _ => Self::Other,
        }
    }

    /// The rule as a word.
    pub(super) fn pack(self) -> Packed {
        Packed(match self {
            Self::Frame { base, above, saved } => {
                let kind = if base == Base::Stack { FROM_STACK } else { FROM_FRAME };
                kind | (u64::from(above) & MASK) << 8 | (u64::from(saved) & MASK) << (8 + BITS)
            }
            Self::Kept(Kept { base, at, above, second, saved }) => {
                let kind = if base == Base::Stack { KEPT_FROM_STACK } else { KEPT_FROM_FRAME };
                let second = second.map_or(0, |second| 1 << 8 | u64::from(second));
                let bytes = u64::from(above) | u64::from(saved) << 8 | second << 16;
                kind | u64::from(at.cast_unsigned()) << 8 | bytes << 24
            }
            Self::Outermost => OUTERMOST,
            Self::Other => OTHER,
        })
    }

    /// The rule of a word that [`pack`](Self::pack) gave.
    pub(super) fn unpack(packed: Packed) -> Self {
        if let Some((base, above, saved)) = packed.usual() {
            return Self::Frame { base, above, saved };
        }
        let Packed(word) = packed;
        let base = match word & 0xFF {
            KEPT_FROM_STACK => Base::Stack,
            KEPT_FROM_FRAME => Base::Frame,
            OUTERMOST => return Self::Outermost,
            _ => return Self::Other,
        };
        let bytes = word >> 24;
        Self::Kept(Kept {
            base,
            at: ((word >> 8) as u16).cast_signed(),
            above: bytes as u8,
            second: (bytes >> 24 & 1 == 1).then_some((bytes >> 16) as u8),
            saved: (bytes >> 8) as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_fit_a_word() {
        let largest = (1 << BITS) - 1;
        for rule in [
            Rule::frame(Base::Stack, 8, 0),
            Rule::frame(Base::Frame, 16, 16),
            Rule::frame(Base::Stack, largest, largest),
            Rule::Kept(Kept { base: Base::Frame, at: -8, above: 0, second: None, saved: 16 }),
            Rule::Kept(Kept { base: Base::Stack, at: 56, above: 0, second: Some(8), saved: 255 }),
            Rule::Kept(Kept { base: Base::Stack, at: 16, above: 80, second: None, saved: 0 }),
            Rule::Outermost,
            Rule::Other,
        ] {
            assert_ne!(rule.pack(), Packed(0));
            assert_eq!(Rule::unpack(rule.pack()), rule);
            let usual = match rule {
                Rule::Frame { base, above, saved } => Some((base, above, saved)),
                _ => None,
            };
            assert_eq!(rule.pack().usual(), usual);
        }
        assert_eq!(Rule::frame(Base::Stack, largest + 1, 0), Rule::Other);
        assert_eq!(Rule::frame(Base::Stack, 8, -8), Rule::Other);
    }
}
