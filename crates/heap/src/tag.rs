//! Tags of blocks that say how a block is read (`runtime/caml/mlvalues.h`).

/// OCaml 5: a continuation, with a stack of its own.
pub const CONTINUATION: u8 = 245;
/// A suspended or forced lazy value.
pub const LAZY: u8 = 246;
/// A closure, or several that are defined together.
pub const CLOSURE: u8 = 247;
/// An object.
pub const OBJECT: u8 = 248;
/// A closure inside another: not a block, but a place that pointers go to.
pub const INFIX: u8 = 249;
/// A block of no fields with this tag is none of the heap's: it stands for memory outside that
/// several custom blocks share, and is of size 0 itself.
pub const OFF_HEAP: u8 = INFIX;
/// A forced lazy value that is not yet short-cut.
pub const FORWARD: u8 = 250;
/// Holds no values, from here on.
pub const ABSTRACT: u8 = 251;
/// A string or bytes.
pub const STRING: u8 = 252;
/// A boxed float.
pub const DOUBLE: u8 = 253;
/// An array or record of floats.
pub const DOUBLE_ARRAY: u8 = 254;
/// A block with operations of its own, in C.
pub const CUSTOM: u8 = 255;
