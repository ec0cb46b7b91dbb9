//! What the runtime carries from the capture of a callstack to the callback.

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::{self, Value, as_integer};
use memtrail_ocaml::memory::ThisProcess;
use memtrail_trace::Code;

use crate::context::halvings::Halvings;
use crate::sampling::drawn::Drawn;

/// As many frames as the sampler is told to capture: a number that no program asks for by chance, and
/// that fits the `int` which OCaml 5 makes of it.
pub(crate) const FRAMES_ASKED_FOR: u64 = 0x6d74_7261;

/// What the runtime carries from the capture to the callback.
#[derive(Clone, Copy)]
pub(crate) enum CaptureToken {
    /// The thread's callstack is still the one: its version, and the code of the innermost frame if
    /// it is a special one.
    Current { version: u64, top: Option<Code> },
    /// It is kept among the pending ones.
    Pending { ticket: u64 },
    /// There is none.
    Nothing,
}

const TOKEN_WORDS: usize = 2;
/// Above a version or a ticket: how the sample was drawn.
const DRAWN: u32 = 54;

impl CaptureToken {
    /// As two slots of a callstack, tagged as integers, with how the sample was drawn.
    pub(crate) fn slots(self, drawn: Drawn) -> [Value; TOKEN_WORDS] {
        let drawn = u64::from(drawn.halvings.0) << 1 | u64::from(drawn.last);
        let word = |n: u64| block::integer(n as i64);
        let [first, second] = match self {
            Self::Current { version, top } => [word(version << 1), word(top.map_or(0, |c| c.0))],
            Self::Pending { ticket } => [word(ticket << 1 | 1), word(0)],
            Self::Nothing => [word(0), word(0)],
        };
        [first | drawn << (DRAWN + 1), second]
    }

    /// Back from the callstack that an allocation callback is given.
    pub(crate) fn read(memory: ThisProcess, callstack: Value) -> (Self, Drawn) {
        let read = || {
            if callstack & 7 != 0 {
                return None;
            }
            let header = memory.u64(callstack.checked_sub(8)?)?;
            if block::tag_of(header) != 0 || block::wosize(header) != TOKEN_WORDS as u64 {
                return None;
            }
            let first = as_integer(memory.u64(callstack)?)? as u64;
            let top = as_integer(memory.field(callstack, 8)?)? as u64;
            let (first, drawn) = (first & ((1 << DRAWN) - 1), first >> DRAWN);
            let halvings = Halvings((drawn >> 1 & 0xf) as u8);
            let drawn = Drawn { halvings, last: drawn & 1 == 1 };
            let token = match (first & 1, top) {
                (1, _) => Self::Pending { ticket: first >> 1 },
                (_, 0) => Self::Current { version: first >> 1, top: None },
                (_, top) => Self::Current { version: first >> 1, top: Some(Code(top)) },
            };
            Some((token, drawn))
        };
        read().unwrap_or((Self::Nothing, Drawn::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a token from a block as the runtime makes it of the two slots.
    fn carried(header: u64, slots: [Value; TOKEN_WORDS]) -> (CaptureToken, Drawn) {
        let block = [header, slots[0], slots[1]];
        // SAFETY: only the block is read.
        let memory = unsafe { ThisProcess::new() };
        CaptureToken::read(memory, (&raw const block[1]).expose_provenance() as u64)
    }

    #[test]
    fn a_token_comes_back_as_it_was() {
        let header = block::header(TOKEN_WORDS as u64, 0, 0);
        let longest = (1 << (DRAWN - 1)) - 1;
        for halvings in [0, 1, 7, 15] {
            for last in [false, true] {
                let drawn = Drawn { halvings: Halvings(halvings), last };
                for number in [0, 1, 77, longest] {
                    for top in [None, Some(Code(0x7f12_3456_7890))] {
                        let token = CaptureToken::Current { version: number, top };
                        let (read, how) = carried(header, token.slots(drawn));
                        let CaptureToken::Current { version, top: read_top } = read else {
                            panic!("another kind")
                        };
                        assert_eq!((version, read_top, how), (number, top, drawn));
                    }
                    let token = CaptureToken::Pending { ticket: number };
                    let (read, how) = carried(header, token.slots(drawn));
                    let CaptureToken::Pending { ticket } = read else { panic!("another kind") };
                    assert_eq!((ticket, how), (number, drawn));
                }
            }
        }
    }

    #[test]
    fn what_is_no_token_reads_as_nothing() {
        let slots = CaptureToken::Pending { ticket: 3 }.slots(Drawn::default());
        let pointer = 0x1000;
        for (header, slots) in [
            (block::header(3, 0, 0), slots),
            (block::header(2, 1, 0), slots),
            (block::header(2, 0, 0), [pointer, slots[1]]),
            (block::header(2, 0, 0), [slots[0], pointer]),
        ] {
            let (token, drawn) = carried(header, slots);
            assert!(matches!(token, CaptureToken::Nothing), "{header:x}");
            assert_eq!(drawn, Drawn::default());
        }
        // SAFETY: nothing is read of what is no block.
        let memory = unsafe { ThisProcess::new() };
        assert!(matches!(CaptureToken::read(memory, 1).0, CaptureToken::Nothing));
    }
}
