//! The primitives of the format: event headers, variable-length integers, codewords, location
//! words, and a cursor that reads them without ever leaving its slice.
//!
//! | primitive | bytes |
//! |---|---|
//! | vint | 0–252: itself; 253 + u16; 254 + **i32** (signed, whatever the specification says); 255 + u64 of which 63 bits count |
//! | string | bytes up to the first NUL, and the NUL |
//! | event header | u32: low 25 bits are the low 25 bits of the time, high 7 bits the event id |
//! | codeword | u16: bucket << 2 \| tag; tag 0, 1: hit and that many predictions; 2: hit, u8 predictions; 3: miss, u64 code |
//! | location | u48: line 20, start column 8, end column 10, file index 5, function index 5 bits; then the strings of indices equal to 31 |
//!
//! | id | event | payload |
//! |---|---|---|
//! | 0 | trace info | f64 rate, u8 word bits, str executable, str host, str runtime parameters, u64 pid, \[v2+: str context\] |
//! | 1 | location | u64 code, u8 n, n locations, the caller first |
//! | 2 | alloc | vint words, vint samples, u8 source, vint common prefix, u16 n, n codewords |
//! | 3 | promote | vint (next id − 1 − the block's id) |
//! | 4 | collect | the same |
//! | 101–116 | short alloc | of id − 100 words, one sample, minor: vint common prefix, u8 n, n codewords |

use crate::units::Code;

/// Event ids.
pub mod event {
    /// The trace's first event, alone in its packet.
    pub const INFO: u32 = 0;
    /// What stands at a code.
    pub const LOCATION: u32 = 1;
    /// A block of any size and source.
    pub const ALLOC: u32 = 2;
    /// A block moved to the major heap.
    pub const PROMOTE: u32 = 3;
    /// A block found dead.
    pub const COLLECT: u32 = 4;
    /// A short alloc of `n` words has id `SHORT_ALLOC + n`, for `n` in `1..=SHORT_MAX`.
    pub const SHORT_ALLOC: u32 = 100;
    /// Words of the largest short alloc.
    pub const SHORT_MAX: u32 = 16;
}

/// Bits of the time in an event header. A packet spans less than 2^25 µs.
pub const TIME_BITS: u32 = 25;
/// Mask of those bits.
pub const TIME_MASK: u64 = (1 << TIME_BITS) - 1;

/// Buckets in each domain's cache of codes.
pub const BUCKETS: usize = 1 << 14;
/// Codeword tags.
pub mod tag {
    /// The bucket is a hit; its predictions are counted by a u8 that follows.
    pub const HIT_N: u16 = 2;
    /// The bucket is filled with the u64 that follows.
    pub const MISS: u16 = 3;
}

/// Entries of a move-to-front table; also the index that says "new, the string follows".
pub const MTF_LEN: usize = 31;

/// First byte of a vint that is followed by a u16.
pub const VINT_U16: u8 = 253;
/// … by an i32.
pub const VINT_I32: u8 = 254;
/// … by a u64 of which 63 bits count.
pub const VINT_I63: u8 = 255;

/// Bits of the location word, from the lowest.
pub mod location {
    /// Bits of the line.
    pub const LINE_BITS: u32 = 20;
    /// Bits of the start column.
    pub const START_BITS: u32 = 8;
    /// Bits of the end column.
    pub const END_BITS: u32 = 10;
    /// Bits of each of the two table indices.
    pub const INDEX_BITS: u32 = 5;
}

/// A code from its eight bytes: OCaml's ints have 63 bits.
pub const fn code63(bits: u64) -> Code {
    Code(bits & (u64::MAX >> 1))
}

/// The 63-bit OCaml int in eight bytes, sign-extended.
pub const fn int63(bits: u64) -> i64 {
    ((bits << 1) as i64) >> 1
}

/// Reads forward in a slice. `None` always means that the slice ends too early.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pos: 0 }
    }

    /// At byte `pos` of `bytes`.
    pub const fn at(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos }
    }

    /// Bytes read so far.
    pub const fn pos(&self) -> usize {
        self.pos
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.pos..).unwrap_or_default()
    }

    /// Whether nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// Moves on by `n` bytes.
    pub fn skip(&mut self, n: usize) -> Option<()> {
        let end = self.pos.checked_add(n)?;
        (end <= self.bytes.len()).then(|| self.pos = end)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let array = *self.bytes.get(self.pos..)?.first_chunk()?;
        self.pos += N;
        Some(array)
    }

    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of 1, 3, 5 or 9 bytes.
    pub fn vint(&mut self) -> Option<i64> {
        Some(match self.u8()? {
            VINT_U16 => i64::from(self.u16()?),
            VINT_I32 => i64::from(self.array().map(i32::from_le_bytes)?),
            VINT_I63 => int63(self.u64()?),
            byte => i64::from(byte),
        })
    }

    /// Bytes up to a NUL, which is read too.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.pos..)?;
        let len = rest.iter().position(|&byte| byte == 0)?;
        self.pos += len + 1;
        rest.get(..len)
    }
}
