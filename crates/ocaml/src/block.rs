//! Values and blocks: how the runtime writes integers, headers and closures (`runtime/caml/mlvalues.h`).

use crate::version::Version;

/// An OCaml value as the runtime holds it.
pub type Value = u64;

/// `()`, `None`, `0`, `false`.
pub const UNIT: Value = integer(0);

/// Tags of blocks.
pub mod tag {
    /// OCaml 5: a continuation.
    pub const CONTINUATION: u8 = 245;
    /// A closure.
    pub const CLOSURE: u8 = 247;
    /// A closure inside a block of closures.
    pub const INFIX: u8 = 249;
    /// The first tag of blocks that hold no values.
    pub const NO_SCAN: u8 = 251;
    /// A block that only C code knows, or an ephemeron.
    pub const ABSTRACT: u8 = 251;
    /// A string.
    pub const STRING: u8 = 252;
    /// A boxed float.
    pub const DOUBLE: u8 = 253;
}

/// The colour of blocks outside the heap: black in 4.x, `NOT_MARKABLE` in 5.x.
pub const COLOUR_STATIC: u64 = 3;

/// 4.x: the colour of free blocks, blue.
pub const FREE_SINGLE: u8 = 2;

/// An integer as a value.
pub const fn integer(number: i64) -> Value {
    (number as u64) << 1 | 1
}

/// The integer that a value is; a block's address is `None`.
pub const fn as_integer(value: Value) -> Option<i64> {
    if value & 1 == 1 { Some(value as i64 >> 1) } else { None }
}

/// A block's header: size in words without the header, tag, colour (0 to 3).
pub const fn header(wosize: u64, tag: u8, colour: u64) -> u64 {
    wosize << 10 | (colour & 3) << 8 | tag as u64
}

/// The size in words that a header gives.
pub const fn wosize(header: u64) -> u64 {
    header >> 10
}

/// The tag that a header gives.
pub const fn tag_of(header: u64) -> u8 {
    header as u8
}

/// Words of a closure without environment and of arity one: code pointer and [`closure_info`].
pub const CLOSURE_WOSIZE: u64 = 2;

/// The second word of a closure of arity one without environment.
///
/// From 4.12 it holds arity and where the environment starts; in 4.11 only the arity.
pub const fn closure_info(version: Version) -> Value {
    match version {
        Version::V4_11 => integer(1),
        _ => 1 << 56 | CLOSURE_WOSIZE << 1 | 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back() {
        for number in [0, 1, -1, 1 << 61, -(1 << 62), (1 << 62) - 1] {
            assert_eq!(as_integer(integer(number)), Some(number));
        }
        assert_eq!(as_integer(0x7fff_0000_1000), None);
    }

    #[test]
    fn headers_are_the_runtimes() {
        // One word, black, a boxed float.
        assert_eq!(header(1, tag::DOUBLE, COLOUR_STATIC), 0x7fd);
        assert_eq!((wosize(0x7fd), tag_of(0x7fd)), (1, tag::DOUBLE));
        assert_eq!(closure_info(Version::V4_11), 3);
        assert_eq!(closure_info(Version::V5_3), 0x0100_0000_0000_0005);
    }
}
