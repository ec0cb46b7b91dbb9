//! What the runtime carries from the capture of a callstack to the callback.

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::{self, Value, as_integer};
use memtrail_ocaml::memory::ThisProcess;
use memtrail_trace::Code;

use crate::recording::halvings::Halvings;
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

const RECEIPT_WORDS: usize = 2;
/// Above a version or a ticket: how the sample was drawn.
const DRAWN: u32 = 54;

impl CaptureToken {
    /// As two slots of a callstack, tagged as integers, with how the sample was drawn.
    pub(crate) fn slots(self, drawn: Drawn) -> [Value; RECEIPT_WORDS] {
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
            if block::tag_of(header) != 0 || block::wosize(header) != RECEIPT_WORDS as u64 {
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
