//! Sections on their way to the file: compressed, with their checksums.

use std::io::{self, Write};

use lz4_flex::block::{compress_into, get_maximum_output_size};
use xxhash_rust::xxh3::Xxh3Default;

use crate::format::{CODEC_LZ4, CODEC_NONE, FILE_HEADER, MAGIC, SECTION_HEADER, VERSION};

/// Writes sections one by one.
#[derive(Debug)]
pub(crate) struct Sections<W> {
    out: W,
    /// Header and payload of the section that is being written.
    buffer: Vec<u8>,
    /// Bytes written.
    pub(super) written: u64,
}

impl<W: Write> Sections<W> {
    /// Starts a file.
    pub(super) fn start(mut out: W) -> io::Result<Self> {
        let mut header = [0; FILE_HEADER];
        header[..6].copy_from_slice(MAGIC);
        header[6..].copy_from_slice(&VERSION.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, buffer: Vec::new(), written: header.len() as u64 })
    }

    /// Goes on with a file that has begun.
    pub(crate) const fn behind(out: W) -> Self {
        Self { out, buffer: Vec::new(), written: 0 }
    }

    /// Writes a section with `count` blocks; `raw` is its payload before compression.
    pub(crate) fn section(&mut self, kind: u16, count: u32, raw: &[u8]) -> io::Result<()> {
        let length = u32::try_from(raw.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::Unsupported, "a section of more than 4 GiB")
        })?;
        self.buffer.resize(SECTION_HEADER + get_maximum_output_size(raw.len()), 0);
        let compressed = compress_into(raw, &mut self.buffer[SECTION_HEADER..]).ok();
        let (codec, stored) = if let Some(stored) = compressed.filter(|stored| *stored < raw.len())
        {
            (CODEC_LZ4, stored as u32)
        } else {
            self.buffer[SECTION_HEADER..][..raw.len()].copy_from_slice(raw);
            (CODEC_NONE, length)
        };
        self.buffer.truncate(SECTION_HEADER + stored as usize);
        let (header, payload) = self.buffer.split_at_mut(SECTION_HEADER);
        header[..2].copy_from_slice(&kind.to_le_bytes());
        header[2..4].copy_from_slice(&codec.to_le_bytes());
        header[4..8].copy_from_slice(&stored.to_le_bytes());
        header[8..12].copy_from_slice(&length.to_le_bytes());
        header[12..16].copy_from_slice(&count.to_le_bytes());
        let mut checksum = Xxh3Default::new();
        checksum.update(&header[..16]);
        checksum.update(payload);
        header[16..].copy_from_slice(&checksum.digest().to_le_bytes());
        self.out.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        Ok(())
    }

    /// Hands what is written on.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.written)
    }
}
