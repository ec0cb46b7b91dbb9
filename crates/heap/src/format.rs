//! The file, byte by byte.
//!
//! ```text
//! file      = "MTHEAP" version:u16 section*
//! section   = kind:u16 codec:u16 stored:u32 raw:u32 count:u32 checksum:u64 payload[stored]
//! ```
//!
//! Fixed numbers are little-endian; all others are written seven bits a byte ([`memtrail_leb128`]), and
//! called *n*. `checksum` is XXH3 of the section's first 16 bytes and its
//! payload. `codec` 0 is as it is, 1 an LZ4 block that gives `raw` bytes. `count` is the number of
//! blocks of a `BLOCKS` section and 0 elsewhere. Readers pass over kinds that they do not know. The
//! last section is `END`; a file without is not whole, but what is there can be read.
//!
//! | kind | section | payload after decompression |
//! |---|---|---|
//! | 1 | `FACTS` | `taken_at`:n `clock`:n `number`:n `reason`:n `pid`:n `program`:text `runtime`:text, counters:n (text n)* `label`:text |
//! | 2 | `LABELS` | texts:n text*, labels:n (parent+1:n kind:u8 part:u8 name:n source:n number:n)* |
//! | 3 | `ROOTS` | roots:n (label:n, strength + 4 if it is in a block:n, block: difference to the last, if it is in a block: that block:n field:n)* |
//! | 4 | `EPHEMERONS` | ephemerons:n (block: difference to the last, data:n, keys:n, key:n*)*; data is 0 if it is not set, 1 if it is no block, else a block + 2 |
//! | 5 | `SAMPLES` | samples:n (block: difference to the last, id:n, samples:n)* |
//! | 6 | `BLOCKS` | see below; as many as it takes, in the order of blocks |
//! | 7 | `CONTENTS` | (block:n, offset:n, bytes:text)*: strings' contents, long ones in pieces |
//! | 8 | `CODES` | functions:n (code:n flags:u8 symbol:text name:text source:text line:n column:n [first:n last:n])*: what closures' numbers mean; with flag 1, partial applications of the function; with flag 2, it starts at the line; with flag 4, it starts between `first` and `last`, which is 0 if unknown; with flag 8, those are the lines of the class that it was made for |
//! | 9 | `CUSTOMS` | identifiers:n text*: what custom blocks' numbers mean |
//! | 10 | `TOTALS` | blocks:n edges:n outside:n pause:n; the pause is the target's, in nanoseconds, 0 if unknown |
//! | 11 | `END` | nothing |
//! | 12 | `IMMEDIATES` | values:n (value: signed, in zigzag)* names:n (value's number:n name:text)*: see below |
//! | 13 | `OBJECTS` | names:n (kind:u8 text)*: what blocks with the tag of objects are; kind 0 is an extension constructor, 1 an object with methods of these classes |
//! | 14 | `PLACES` | files:n text*, variables:n label:n* `file:n`* flags:u8* first:n* lines:n*: in which lines variables are defined; labels are differences to the last, files and first lines as well, in zigzag; `lines` is how many there are, 0 if unknown; with flag 1, the lines are those of the code that computes the value, else of variables before and behind it |
//! | 15 | `IMMEDIATE_BLOCKS` | blocks:n (block: difference to the last)* (value's number:n)*; as many as it takes, in the order of blocks, before `IMMEDIATES` |
//! | 16 | `OBJECT_BLOCKS` | the same with numbers of names, before `OBJECTS` |
//! | 17 | `EDGES` | edges:n form:u8 fields targets: edges of a block with very many; see below |
//!
//! `text` is a length and bytes; a *difference* is a signed number in zigzag. Blocks are numbered in
//! the order of their addresses, through all regions.
//!
//! # `BLOCKS`
//!
//! Self-contained: it can be decoded without any other, knowing the number of its first block.
//!
//! ```text
//! edges:n runs:n run* shapes:n shape* codes:n targets:n extras:n gaps:n
//! codes[codes] targets[targets] extras[extras] gaps[gaps]
//! run       = space:u8 slot:n address:n count:n     blocks that follow each other in memory
//! shape     = tag:u8 wosize:n mask:n                wosize up to 32; bit i: field i points to a block
//! ```
//!
//! - **codes**: one for each block. 0 is a block that is told in `extras`, others are shapes from 1
//!   on: below 240 one byte, others two, `240 + (code - 240) / 256` and `(code - 240) % 256`.
//! - **targets**: for each edge, in the order of fields, the difference between the number of the
//!   block pointed to and the one that points.
//! - **extras**: for blocks with code 0: tag:u8 wosize:n edges:n, then for each edge the difference
//!   of its field to the one before, minus 1 (the first: the field itself). A field from wosize on
//!   is a value that a continuation's stack holds. For closures: the number of their function; for
//!   custom blocks: the number of their identifier, and bytes outside the heap + 1, 0 if how many is
//!   unknown. In this order.
//! - **gaps**: where a block does not start where expected (where the one before ended; a slot
//!   later, if `slot` is not 0): number of blocks in the section since the last such one, itself
//!   counted, and words (slots) between. The first block of a run is where the run's address says.
//!
//! An address of a run is that of the first block's header.
//!
//! A block with more than 65,536 edges is alone in its section and has none there. They are in the `EDGES` sections since
//! the `BLOCKS` section before, in the order of fields. `form` is a sum: with 1, `fields` is the first field, and the others
//! follow it without a gap; otherwise fields are as in `extras`. With 2, `targets` are the blocks' numbers as `u32`;
//! otherwise they are as in `BLOCKS`.
//!
//! # Memory that custom blocks share
//!
//! The last blocks, behind those of all regions, are none of the heap's: each stands for memory outside
//! that several bigarrays share. Their space is 4, their tag 249, they have no fields and take up no
//! words; each is a run of its own, whose address is eight less than that of the proxy. As of custom
//! blocks, `extras` have an identifier and bytes. The views point to them from the field with their
//! proxy.
//!
//! # Immediates
//!
//! `IMMEDIATES` has the first field of blocks with tag 0 and two fields, if that is an integer that a hash may be: polymorphic variants with an argument have the hash of their name there (`hash_variant`), values of dynamic types
//! that of their type's (`Hashtbl.hash`). Of blocks with tag 0 and five fields, of which the last may be the height of a
//! tree, it has the second field in the same way: the key of a map's node. `values` are different from each other. The
//! names are those whose hash as a polymorphic variant is the value. If a heap has more than
//! 65,536 different integers that are no hashes of names in the program, the rare ones are left out: they would take memory in
//! proportion to the heap, in a process that is short of it.
//!
//! # Versions
//!
//! - 1 had the pause before the first section, as `pause:u64`, outside all checksums.
//! - 1 and 2 had nothing of memory that is shared, and for custom blocks bytes outside the heap instead
//!   of bytes + 1.
//! - 1 to 8 had `IMMEDIATES` and `OBJECTS` with their blocks behind the names, and no `EDGES`. No value
//!   was left out.
//! - 1 to 7 had no `PLACES`, and in `IMMEDIATES` each block with its value's number behind it.
//! - 1 to 5 had in `IMMEDIATES` no blocks with five fields.
//! - 1 to 4 had in `CODES` only flag 1; 5 and 6 had not flag 8.
//! - 1 to 3 had in `CODES` neither flags nor symbols nor columns, and in `EPHEMERONS` data + 1, 0 if it is not
//!   set or no block.

/// The first bytes of every snapshot.
pub(crate) const MAGIC: &[u8; 6] = b"MTHEAP";
/// The version that is written. Those before it are read, too.
pub(crate) const VERSION: u16 = 9;
/// From this version on, bytes outside the heap may be unknown.
pub(crate) const WITH_UNKNOWN: u16 = 3;
/// From this version on, functions have symbols and columns, and ephemerons' data that is no block is set.
pub(crate) const WITH_SYMBOLS: u16 = 4;
/// From this version on, functions without a line may have lines between which they start.
pub(crate) const WITH_BETWEEN: u16 = 5;
/// From this version on, these may be the lines of the class that the compiler made the function for.
pub(crate) const WITH_CLASSES: u16 = 7;
/// From this version on, numbers of immediate values are behind all blocks that have any.
pub(crate) const WITH_COLUMNS: u16 = 8;
/// From this version on, blocks with names and values are in sections of their own.
pub(crate) const WITH_PIECES: u16 = 9;
/// Bytes before the first section.
pub(crate) const FILE_HEADER: usize = 8;
/// The same in version 1, where the last eight of them are the pause.
pub(crate) const FILE_HEADER_V1: usize = 16;
/// Bytes of a section before its payload.
pub(crate) const SECTION_HEADER: usize = 24;

/// Kinds of sections.
pub(crate) mod kind {
    pub(crate) const FACTS: u16 = 1;
    pub(crate) const LABELS: u16 = 2;
    pub(crate) const ROOTS: u16 = 3;
    pub(crate) const EPHEMERONS: u16 = 4;
    pub(crate) const SAMPLES: u16 = 5;
    pub(crate) const BLOCKS: u16 = 6;
    pub(crate) const CONTENTS: u16 = 7;
    pub(crate) const CODES: u16 = 8;
    pub(crate) const CUSTOMS: u16 = 9;
    pub(crate) const TOTALS: u16 = 10;
    pub(crate) const END: u16 = 11;
    pub(crate) const IMMEDIATES: u16 = 12;
    pub(crate) const OBJECTS: u16 = 13;
    pub(crate) const PLACES: u16 = 14;
    pub(crate) const IMMEDIATE_BLOCKS: u16 = 15;
    pub(crate) const OBJECT_BLOCKS: u16 = 16;
    pub(crate) const EDGES: u16 = 17;
    /// The highest.
    pub(crate) const LAST: u16 = EDGES;
}

/// A payload as it is.
pub(crate) const CODEC_NONE: u16 = 0;
/// A payload as an LZ4 block.
pub(crate) const CODEC_LZ4: u16 = 1;

/// The most fields that a shape tells one by one.
pub(crate) const SHAPE_FIELDS: u64 = 32;
/// Codes of shapes that take one byte, and code 0.
pub(crate) const SHORT_CODES: u32 = 240;
/// One more than the highest code.
pub(crate) const CODES: u32 = SHORT_CODES + 16 * 256;

/// A function's flag: the closures are partial applications of it.
pub(crate) const IS_PARTIAL: u8 = 1;
/// A function's flag: it starts at its line.
pub(crate) const IS_START: u8 = 2;
/// A function's flag: lines follow between which it starts.
pub(crate) const IS_BETWEEN: u8 = 4;
/// Flag of a function: these are the lines of the class that the compiler made it for.
pub(crate) const IS_OF_CLASS: u8 = 8;

/// Form of `EDGES`: the fields follow each other without a gap.
pub(crate) const CONSECUTIVE: u8 = 1;
/// Form of `EDGES`: targets are numbers of four bytes.
pub(crate) const FIXED_WIDTH: u8 = 2;

/// What names of `OBJECTS` are: of an extension constructor, or of the classes that methods are of.
pub(crate) const CONSTRUCTOR: u8 = 0;
pub(crate) const METHODS_OF: u8 = 1;

/// In a root's strength: it is in a block.
pub(crate) const STANDS_IN_BLOCK: u64 = 4;
