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
//! | 6 | `FILES` | both: names of source files |
//! | 7 | `TERMS` | both |
//! | 8 | `DECLARATIONS` | both |
//! | 9 | `MODULES` | both |
//! | 10 | `EXTENSIONS` | both |
//! | 12 | `CONTENTS` | the helper, for each unit: what its slots hold |
//! | 13 | `CLOSURES` | both |
//! | 14 | `DYNAMIC` | both |
//! | 15 | `NAMED` | both |
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
//! slot      = kind:n names:n text* type:text position stamp:n content
//! position  = file:n line:n column:n
//! content   = 0 | 1 term:n | 2 module:n | 3 extension:n
//! CONTENTS  = unit:text contents:n content*
//! ```
//!
//! `FOUND` has slots without `content`; `CONTENTS` has those of the exported and then of the hidden slots.
//!
//! Sections 6 to 10 and 13 to 15 have rows until they end; rows of one kind that are in several sections are numbered
//! through, from 0.
//!
//! ```text
//! FILES     = text*
//! TERMS     = (code:n …)*                       as in `read_table.rs`; parts are terms before
//! DECLARATIONS = (name:text position variables:n parameters:n n* definition)*
//! definition = 0 | 1 term:n | 2 fields floats:n | 3 constructors:n constructor* | 4 term:n | 5
//! constructor = name:text option(tag:n) fields option(results:n n*)
//! fields    = count:n (name:text term:n)*
//! MODULES   = (name:text slots:n slot*)*
//! EXTENSIONS = (name:text of:n fields option(results:n n*) record:n)*
//! CLOSURES  = (symbol:text anonymous:n option(place place) words:n variables:n (name:text option(term:n))*
//!             partial:n place*)*
//! DYNAMIC   = (declaration:n hash:n term:n)*
//! NAMED     = (unit:text functions:n (name:text position)*)*
//! place     = line:n column:n                   lines from 1, columns from 0
//! option(x) = 0 | 1 x
//! ```
//!
//! A slot's names are the modules inside the unit that define it, and its own last. `file` is 0 for none, or
//! the number of one of the layout's files from 1; lines and columns are from 1. `stamp` is the number at
//! the end of a function's symbol, 0 for none. Digests are texts of 16 bytes, or empty.
//!
//! Version 1 has slots without `content`, and sections up to 5. Version 2 has instead of `CLOSURES` a section of kind
//! 11, which gave functions by name what was not in their closures' order; it is passed over. Version 3 has no `DYNAMIC`.
//! Up to version 4, terms do not say what functions take and return. Version 5 has no `NAMED`.

/// The result's name in a recording.
pub const FILE: &str = "types";
/// The first bytes of the file.
pub(crate) const MAGIC: &[u8; 7] = b"MTTYPES";
/// The version that is written.
pub(crate) const VERSION: u8 = 6;
/// The oldest version that is read.
pub(crate) const OLDEST: u8 = 1;
/// From this version on, slots have contents.
pub(crate) const WITH_CONTENTS: u8 = 2;

/// Kinds of sections.
pub(crate) mod kind {
    pub(crate) const BEGUN: u64 = 1;
    pub(crate) const REJECTED: u64 = 2;
    pub(crate) const FOUND: u64 = 3;
    pub(crate) const PROGRAM: u64 = 4;
    pub(crate) const UNIT: u64 = 5;
    pub(crate) const FILES: u64 = 6;
    pub(crate) const TERMS: u64 = 7;
    pub(crate) const DECLARATIONS: u64 = 8;
    pub(crate) const MODULES: u64 = 9;
    pub(crate) const EXTENSIONS: u64 = 10;
    pub(crate) const CONTENTS: u64 = 12;
    pub(crate) const CLOSURES: u64 = 13;
    pub(crate) const DYNAMIC: u64 = 14;
    pub(crate) const NAMED: u64 = 15;
}
