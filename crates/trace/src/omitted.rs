//! Callstacks that are too deep to be written whole: the frames in the middle are left out.
//!
//! What is left are the outermost frames, one synthetic frame that shows how many are missing, and
//! the innermost frames. The gap grows in whole steps, so that of two callstacks of nearly the same
//! depth the same frames are missing: then they share a path in the call tree, and the second takes a
//! few bytes. The number is shown as a range, for the same reason.
//!
//! The synthetic frame's code is a small number, where no code is.

use std::ops::Range;

use crate::info::Location;
use crate::units::Code;

/// Frames that are kept at the outer end.
pub const OUTERMOST: usize = 64;
/// Frames that are kept at the inner end, at least.
pub const INNERMOST: usize = 256;
/// Frames by which the gap grows.
pub const STEP: usize = 256;
/// The longest callstack that is left of a longer one.
pub const MAX_FRAMES_LEFT: usize = OUTERMOST + 1 + INNERMOST + STEP - 1;

/// From here on there are numbers for synthetic frames.
const FIRST: u64 = 1 << 15;
/// By the number of binary digits of what is missing.
const NAMES: [(u32, &str); 10] = [
    (0, "[frames omitted]"),
    (9, "[256 to 511 frames omitted]"),
    (10, "[512 to 1,023 frames omitted]"),
    (11, "[1,024 to 2,047 frames omitted]"),
    (12, "[2,048 to 4,095 frames omitted]"),
    (13, "[4,096 to 8,191 frames omitted]"),
    (14, "[8,192 to 16,383 frames omitted]"),
    (15, "[16,384 to 32,767 frames omitted]"),
    (16, "[32,768 to 65,535 frames omitted]"),
    (17, "[65,536 or more frames omitted]"),
];

/// Which frames of a callstack of `depth` frames are left out, the outermost being number 0; `None` if
/// all are kept.
pub fn gap(depth: usize) -> Option<Range<usize>> {
    let steps = depth.checked_sub(OUTERMOST + INNERMOST)? / STEP;
    (steps > 0).then_some(OUTERMOST..OUTERMOST + steps * STEP)
}

/// The code that stands for so many frames, or for an unknown number of them if that is 0.
pub const fn code(frames: usize) -> Code {
    let digits = usize::BITS - frames.leading_zeros();
    let mut index = NAMES.len() - 1;
    while NAMES[index].0 > digits {
        index -= 1;
    }
    Code((FIRST + index as u64) << 1)
}

/// The name of the synthetic frame that has this code; `None` if it is another frame's.
pub fn name(code: Code) -> Option<&'static str> {
    if code.0 & 1 == 1 {
        return None;
    }
    let index = (code.0 >> 1).checked_sub(FIRST)?;
    NAMES.get(usize::try_from(index).ok()?).map(|&(_, name)| name)
}

/// What is to be written of such a code; `None` if it is another frame's.
pub fn location(code: Code) -> Option<Location<'static>> {
    let function = name(code)?.as_bytes();
    Some(Location { function, file: b"", line: 0, start_col: 0, end_col: 0 })
}

/// Leaves out the middle of a callstack, outermost frame first, if it has one.
pub fn shorten(stack: &mut Vec<Code>) {
    if let Some(gap) = gap(stack.len())
        && let Some(first) = stack.get_mut(gap.start)
    {
        *first = code(gap.len());
        stack.drain(gap.start + 1..gap.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_kept_and_the_rest_is_counted() {
        for depth in 0..3_000 {
            let whole: Vec<Code> = (1..=depth).map(|i| Code(i << 20)).collect();
            let mut short = whole.clone();
            shorten(&mut short);
            if whole.len() < MAX_FRAMES_LEFT {
                assert_eq!(short, whole);
                continue;
            }
            let omitted = whole.len() - (short.len() - 1);
            assert!(short.len() <= MAX_FRAMES_LEFT, "{} of {depth}", short.len());
            assert_eq!(short[..OUTERMOST], whole[..OUTERMOST]);
            assert_eq!(short[OUTERMOST], code(omitted));
            let inner = short.len() - OUTERMOST - 1;
            assert!((INNERMOST..INNERMOST + STEP).contains(&inner));
            assert_eq!(short[OUTERMOST + 1..], whole[whole.len() - inner..]);
        }
    }

    #[test]
    fn names_tell_the_number() {
        let named = |frames| name(code(frames)).unwrap();
        assert_eq!(named(0), "[frames omitted]");
        assert_eq!(named(256), "[256 to 511 frames omitted]");
        assert_eq!(named(511), "[256 to 511 frames omitted]");
        assert_eq!(named(512), "[512 to 1,023 frames omitted]");
        assert_eq!(named(65_535), "[32,768 to 65,535 frames omitted]");
        assert_eq!(named(65_536), "[65,536 or more frames omitted]");
        assert_eq!(named(10_000_000), "[65,536 or more frames omitted]");
        assert_eq!(name(Code(2)), None);
        assert_eq!(name(Code(code(256).0 | 1)), None);
        assert_eq!(name(Code((FIRST + 10) << 1)), None);
    }
}
