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
    /// There is no caller.
    Outermost,
    /// Only libgcc's unwinder can tell.
    Other,
}

/// Bits of a number of bytes.
const BITS: u32 = 28;
const MASK: u64 = (1 << BITS) - 1;

const FROM_STACK: u64 = 1;
const FROM_FRAME: u64 = 2;
const OUTERMOST: u64 = 3;
const OTHER: u64 = 4;

impl Rule {
    /// The rule of the usual form, if these numbers fit.
    pub(super) fn frame(base: Base, above: i64, saved: i64) -> Self {
        let fitting = |number: i64| u32::try_from(number).ok().filter(|&n| u64::from(n) <= MASK);
        match (fitting(above), fitting(saved)) {
            (Some(above), Some(saved)) => Self::Frame { base, above, saved },
            _ => Self::Other,
        }
    }

    /// The rule as a word, never 0.
    pub(super) fn pack(self) -> u64 {
        match self {
            Self::Frame { base, above, saved } => {
                let kind = if base == Base::Stack { FROM_STACK } else { FROM_FRAME };
                kind | (u64::from(above) & MASK) << 8 | (u64::from(saved) & MASK) << (8 + BITS)
            }
            Self::Outermost => OUTERMOST,
            Self::Other => OTHER,
        }
    }

    /// The rule of a word that [`pack`](Self::pack) gave.
    pub(super) fn unpack(word: u64) -> Self {
        let base = match word & 0xFF {
            FROM_STACK => Base::Stack,
            FROM_FRAME => Base::Frame,
            OUTERMOST => return Self::Outermost,
            _ => return Self::Other,
        };
        let (above, saved) = ((word >> 8 & MASK) as u32, (word >> (8 + BITS)) as u32);
        Self::Frame { base, above, saved }
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
            Rule::Outermost,
            Rule::Other,
        ] {
            assert_ne!(rule.pack(), 0);
            assert_eq!(Rule::unpack(rule.pack()), rule);
        }
        assert_eq!(Rule::frame(Base::Stack, largest + 1, 0), Rule::Other);
        assert_eq!(Rule::frame(Base::Stack, 8, -8), Rule::Other);
    }
}
