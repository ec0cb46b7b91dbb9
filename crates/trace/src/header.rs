//! The packet header: where each packet says how long it is, whose it is and what it covers.
//!
//! A trace is a sequence of packets and nothing else: no file header, no trailer, no checksum.
//! All numbers are little-endian and byte-packed.
//!
//! | offset | field | type | meaning |
//! |---|---|---|---|
//! | 0 | magic | u32 | [`MAGIC`] |
//! | 4 | size | u32 | of the packet, in **bits**, header included |
//! | 8 | begin | u64 | µs since the Unix epoch |
//! | 16 | end | u64 | time of the last event, inclusive |
//! | 24 | flush duration | u32 | memtrace writes 0 and never reads it; memtrail keeps its [`Note`] here |
//! | 28 | version | u16 | 1, 2 or 3, of this packet |
//! | 30 | pid | u64 | |
//! | 38 | domain | u16 | only in version 3 |
//! | +0 | verified bucket | u16 | [`NOTHING_TO_VERIFY`], or a bucket of the domain's cache |
//! | +2 | its successor | u16 | |
//! | +4 | its code | u64 | |
//! | +12 | first block id | u64 | |
//! | +20 | last block id | u64 | **exclusive** |
//!
//! A note is 0, or `0x6D74` in its upper half and these bits in its lower half:
//!
//! | bits | meaning |
//! |---|---|
//! | 0–7 | how often the rate was halved for the packet's blocks, if bit 8 is set |
//! | 8 | the halvings are known, whatever a list beside the trace says |
//! | 9 | the packet refers to nothing that its domain said before: all before it may be written anew |
//!
//! Readers that know no notes read the same events. Only standard errors are too small then.

use crate::units::{Code, DomainId, Timestamp};
use crate::wire::{Cursor, code63};

/// First four bytes of every packet.
pub const MAGIC: u32 = 0xC1FC_1FC1;
/// Bytes in the header of a packet of version 1 or 2.
pub const LEN_V1: usize = 66;
/// Bytes in the header of a packet of version 3.
pub const LEN_V3: usize = 68;
/// The newest version there is.
pub const NEWEST_VERSION: u16 = 3;
/// The largest packet that memtrace's reader takes, in bytes.
pub const MEMTRACE_PACKET: usize = 32_768;
/// Verified bucket of a packet that verifies none.
pub const NOTHING_TO_VERIFY: u16 = 0xFFFF;
/// The bucket that a writer verifies first …
pub const VERIFY_FIRST: u16 = 4242;
/// … and how far it moves on with each packet, modulo [`BUCKETS`](crate::wire::BUCKETS).
pub const VERIFY_STEP: u16 = 5413;

/// A note that is one of memtrail's has this in its upper half.
const NOTE: u32 = 0x6D74;
/// The packet's halvings are known.
const HAS_HALVINGS: u32 = 1 << 8;
/// The packet begins anew.
const RESTARTS: u32 = 1 << 9;

/// Facts about a packet that memtrace has no field for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Number of times that the trace's rate was halved for the packet's blocks; `None` if a list beside the trace tells.
    pub halvings: Option<u8>,
    /// The packet refers to nothing that its domain said before.
    pub restarts: bool,
}

impl Note {
    fn parse(word: u32) -> Self {
        if word >> 16 != NOTE {
            return Self::default();
        }
        Self {
            halvings: (word & HAS_HALVINGS != 0).then_some(word as u8),
            restarts: word & RESTARTS != 0,
        }
    }

    fn encode(self) -> u32 {
        let halvings = self.halvings.map_or(0, |halvings| HAS_HALVINGS | u32::from(halvings));
        let restarts = if self.restarts { RESTARTS } else { 0 };
        match halvings | restarts {
            0 => 0,
            bits => NOTE << 16 | bits,
        }
    }
}

/// What a packet says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes in the packet, header included. A whole number of bytes is all that is readable.
    pub size: usize,
    /// No event of the packet is earlier.
    pub begin: Timestamp,
    /// No event of the packet is later.
    pub end: Timestamp,
    /// Facts that memtrace's format has no field for.
    pub note: Note,
    /// Version of the format, 1 to 3; decides the header's own length.
    pub version: u16,
    /// The process that wrote it.
    pub pid: u64,
    /// The domain that wrote it; 0 before version 3.
    pub domain: DomainId,
    /// A sample of the writer's cache as it was before this packet, to compare ours with.
    pub verify: Option<Verify>,
    /// Id of the first block allocated in the packet.
    pub first_id: u64,
    /// One more than the id of the last one.
    pub end_id: u64,
}

/// One bucket of the writer's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verify {
    /// Number of the bucket.
    pub bucket: u16,
    /// The bucket predicted to follow it.
    pub next: u16,
    /// The code that it holds.
    pub code: Code,
}

/// Why some bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// They end too early.
    Short,
    /// They do not begin with [`MAGIC`].
    Magic(u32),
    /// A version that nobody has written yet. The header's length is unknown.
    Version(u16),
    /// A size in bits that cannot be: not whole bytes, or less than the header.
    Size(u32),
}

impl Header {
    /// Bytes in a header of this version.
    pub const fn len_of(version: u16) -> usize {
        if version >= 3 { LEN_V3 } else { LEN_V1 }
    }

    /// Bytes in this header.
    pub const fn header_len(&self) -> usize {
        Self::len_of(self.version)
    }

    /// Reads the header that `bytes` begin with.
    pub fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let mut at = Cursor::new(bytes);
        let magic = at.u32().ok_or(HeaderError::Short)?;
        if magic != MAGIC {
            return Err(HeaderError::Magic(magic));
        }
        Self::after_magic(&mut at).ok_or(HeaderError::Short)?
    }

    fn after_magic(at: &mut Cursor<'_>) -> Option<Result<Self, HeaderError>> {
        let bits = at.u32()?;
        let begin = Timestamp(at.u64()?);
        let end = Timestamp(at.u64()?);
        let note = Note::parse(at.u32()?);
        let version = at.u16()?;
        if !(1..=NEWEST_VERSION).contains(&version) {
            return Some(Err(HeaderError::Version(version)));
        }
        let pid = at.u64()?;
        let domain = DomainId(if version >= 3 { at.u16()? } else { 0 });
        let (bucket, next, code) = (at.u16()?, at.u16()?, code63(at.u64()?));
        let (first_id, end_id) = (at.u64()?, at.u64()?);
        let size = bits as usize / 8;
        if bits % 8 != 0 || bits > i32::MAX as u32 || size < Self::len_of(version) {
            return Some(Err(HeaderError::Size(bits)));
        }
        let verify = (bucket != NOTHING_TO_VERIFY).then_some(Verify { bucket, next, code });
        Some(Ok(Self { size, begin, end, note, version, pid, domain, verify, first_id, end_id }))
    }

    /// The header as it is in the file: the first [`header_len`](Self::header_len) bytes.
    pub fn encode(&self) -> [u8; LEN_V3] {
        let mut out = [0; LEN_V3];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(to) = out.get_mut(at..at + bytes.len()) {
                to.copy_from_slice(bytes);
            }
            at += bytes.len();
        };
        let verify =
            self.verify.unwrap_or(Verify { bucket: NOTHING_TO_VERIFY, next: 0, code: Code(0) });
        put(&MAGIC.to_le_bytes());
        put(&((self.size * 8) as u32).to_le_bytes());
        put(&self.begin.0.to_le_bytes());
        put(&self.end.0.to_le_bytes());
        put(&self.note.encode().to_le_bytes());
        put(&self.version.to_le_bytes());
        put(&self.pid.to_le_bytes());
        if self.version >= 3 {
            put(&self.domain.0.to_le_bytes());
        }
        put(&verify.bucket.to_le_bytes());
        put(&verify.next.to_le_bytes());
        put(&verify.code.0.to_le_bytes());
        put(&self.first_id.to_le_bytes());
        put(&self.end_id.to_le_bytes());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_parsed_in_every_version() {
        for version in 1..=3 {
            let header = Header {
                size: 4096,
                begin: Timestamp(1),
                end: Timestamp(2),
                note: Note { halvings: (version == 3).then_some(9), restarts: version == 2 },
                version,
                pid: 3,
                domain: DomainId(if version == 3 { 4 } else { 0 }),
                verify: Some(Verify { bucket: 5, next: 6, code: Code(7) }),
                first_id: 8,
                end_id: 9,
            };
            let bytes = header.encode();
            let len = header.header_len();
            assert_eq!(Header::parse(&bytes[..len]), Ok(header));
            assert_eq!(Header::parse(&bytes[..len - 1]), Err(HeaderError::Short));
        }
    }
}
