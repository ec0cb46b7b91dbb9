//! Sections of a file, one after the other.

use xxhash_rust::xxh3::Xxh3Default;

use super::error::{Cause, Error};
use crate::format::{
    CODEC_LZ4, CODEC_NONE, FILE_HEADER, FILE_HEADER_V1, MAGIC, SECTION_HEADER, VERSION,
};

/// A section; its checksum is right, unless it was only peeked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) kind: u16,
    codec: u16,
    raw: u32,
    /// Blocks, of a section that has some.
    pub(crate) count: u32,
    /// Where it starts in the file.
    pub(crate) offset: u64,
    pub(crate) payload: &'a [u8],
    pub(crate) checksum: u64,
}

/// What LZ4 can make of a byte at most.
const MAX_EXPANSION: usize = 255;

impl<'a> Section<'a> {
    /// Its payload as it was before compression. `buffer` is used where that is needed.
    pub(crate) fn content<'b>(&self, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Error>
    where
        'a: 'b,
    {
        let codec = || Cause::Codec.at(self.offset);
        match self.codec {
            CODEC_NONE => Ok(self.payload),
            CODEC_LZ4 => {
                let raw = self.raw as usize;
                if raw / MAX_EXPANSION > self.payload.len() {
                    return Err(codec());
                }
                buffer.resize(raw, 0);
                let length =
                    lz4_flex::block::decompress_into(self.payload, buffer).map_err(|_| codec())?;
                if length == raw { Ok(buffer) } else { Err(codec()) }
            }
            _ => Err(codec()),
        }
    }
}

/// What stands before the first section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// The pause in nanoseconds, in version 1; 0 in later ones, which have it in their totals.
    pub(crate) pause: u64,
    /// Where the first section is.
    pub(crate) end: usize,
    pub(crate) version: u16,
}

/// Checks the start of a file.
pub(crate) fn header(bytes: &[u8]) -> Result<Header, Error> {
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) || bytes.is_empty() {
        return Err(Cause::Magic.at(0));
    }
    let truncated = Cause::Truncated.at(bytes.len() as u64);
    let header = bytes.first_chunk::<FILE_HEADER>().ok_or(truncated)?;
    match u16::from_le_bytes([header[6], header[7]]) {
        1 => {
            let header = bytes.first_chunk::<FILE_HEADER_V1>().ok_or(truncated)?;
            let pause = u64_at(header, FILE_HEADER);
            Ok(Header { pause, end: FILE_HEADER_V1, version: 1 })
        }
        version @ 2..=VERSION => Ok(Header { pause: 0, end: FILE_HEADER, version }),
        version => Err(Cause::Version(version).at(6)),
    }
}

/// The section at `offset`, and where the next one is.
pub(crate) fn section(bytes: &[u8], offset: usize) -> Result<(Section<'_>, usize), Error> {
    let (section, next) = peek_section(bytes, offset)?;
    let mut checksum = Xxh3Default::new();
    checksum.update(bytes.get(offset..).and_then(|rest| rest.get(..16)).unwrap_or_default());
    checksum.update(section.payload);
    if checksum.digest() != section.checksum {
        return Err(Cause::Checksum.at(offset as u64));
    }
    Ok((section, next))
}

/// The same, without looking whether the checksum is right.
pub(super) fn peek_section(bytes: &[u8], offset: usize) -> Result<(Section<'_>, usize), Error> {
    let truncated = Cause::Truncated.at(bytes.len() as u64);
    let rest = bytes.get(offset..).ok_or(truncated)?;
    let header = rest.first_chunk::<SECTION_HEADER>().ok_or(truncated)?;
    let stored = u32_at(header, 4) as usize;
    let end = SECTION_HEADER.checked_add(stored).ok_or(truncated)?;
    let payload = rest.get(SECTION_HEADER..end).ok_or(truncated)?;
    let section = Section {
        kind: u16::from_le_bytes([header[0], header[1]]),
        codec: u16::from_le_bytes([header[2], header[3]]),
        raw: u32_at(header, 8),
        count: u32_at(header, 12),
        offset: offset as u64,
        payload,
        checksum: u64_at(header, 16),
    };
    Ok((section, offset + end))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..)
        .and_then(|bytes| bytes.first_chunk())
        .map_or(0, |four| u32::from_le_bytes(*four))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..)
        .and_then(|bytes| bytes.first_chunk())
        .map_or(0, |eight| u64::from_le_bytes(*eight))
}
