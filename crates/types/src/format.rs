//! The file, byte by byte. The OCaml helper writes the same sections (`ocaml/wire.ml`).
//!
//! ```text
//! file      = "MTTYPES" version:u8 section* checksum:u64
//! section   = kind:n length:n payload[length]
//! ```
//!
//! *n* is a number, seven bits a byte, low ones first, the top bit of a byte is set if more follow; `text` is a
//! length and bytes. `checksum` is XXH3 of all before it, little-endian. Readers pass over kinds that they
//! do not know.
//!
//! | kind | section | written by |
//! |---|---|---|
//! | 1 | `BEGUN` | the helper, before it reads a unit's files |
//! | 2 | `REJECTED` | the helper, for each file that it does not use |
//! | 3 | `FOUND` | the helper, if files describe the unit |
//! | 4 | `PROGRAM` | the file, first |
//! | 5 | `UNIT` | the file, once for each unit |
//!
//! ```text
//! BEGUN     = unit:text
//! REJECTED  = problem
//! FOUND     = unit:text interface:text layout
//! PROGRAM   = program:text compiler:text units:n
//! UNIT      = unit:text interface:text implementation:text fields+1:n problems:n problem*
//!             known:n, if it is 1: evidence:n layout
//! problem   = file:text reason:n detail:text
//! layout    = interface_file:text implementation_file:text files:n text* method_cache:n
//!             exported:n slot* hidden:n slot*
//! slot      = kind:n names:n text* type:text file:n line:n column:n stamp:n
//! ```
//!
//! A slot's names are the modules inside the unit that define it, and its own last. `file` is 0 for none, or
//! the number of one of the layout's files from 1; lines and columns are from 1. `stamp` is the number at
//! the end of a function's symbol, 0 for none. Digests are texts of 16 bytes, or empty.

/// The result's name in a recording.
pub const FILE: &str = "types";
/// The first bytes of the file.
pub(crate) const MAGIC: &[u8; 7] = b"MTTYPES";
/// The version that is written.
pub(crate) const VERSION: u8 = 1;

/// Kinds of sections.
pub(crate) mod kind {
    pub(crate) const BEGUN: u64 = 1;
    pub(crate) const REJECTED: u64 = 2;
    pub(crate) const FOUND: u64 = 3;
    pub(crate) const PROGRAM: u64 = 4;
    pub(crate) const UNIT: u64 = 5;
}
