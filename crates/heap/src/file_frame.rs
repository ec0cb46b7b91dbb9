//! What files begin with that are computed from a snapshot and kept beside it: what they are, what they are of, and a
//! checksum of what follows.
//!
//! ```text
//! file = magic:u8[6] version:u16 key:u64[KEYS] checksum:u64 content
//! ```
//!
//! All numbers are little-endian. Keys are checksums of what the content was computed from, `checksum` is XXH3 of the
//! content.

#[cfg(feature = "mmap")]
use std::fs::File;
use std::io::{self, Write};
#[cfg(feature = "mmap")]
use std::io::{Read as _, Seek as _, SeekFrom};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

const VERSION: usize = 6;
const FIRST_KEY: usize = 8;

/// The beginning of such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<const KEYS: usize> {
    /// What sort of file.
    pub(crate) magic: [u8; 6],
    /// Raised whenever the content or what it means changes: a file of another version is not read.
    pub(crate) version: u16,
    /// What the content is of.
    pub(crate) keys: [u64; KEYS],
}

impl<const KEYS: usize> Frame<KEYS> {
    const CHECKSUM: usize = FIRST_KEY + 8 * KEYS;
    /// Where the content begins: at a multiple of 8.
    pub(crate) const LENGTH: usize = Self::CHECKSUM + 8;

    /// Writes a file. `content` gives its argument the content piece by piece; it is called twice, as the checksum
    /// is written before what it is of.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn write(
        &self,
        mut out: impl Write,
        content: impl Fn(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut checksum = Xxh3Default::new();
        content(&mut |bytes| {
            checksum.update(bytes);
            Ok(())
        })?;
        out.write_all(&self.magic)?;
        out.write_all(&self.version.to_le_bytes())?;
        for key in self.keys {
            out.write_all(&key.to_le_bytes())?;
        }
        out.write_all(&checksum.digest().to_le_bytes())?;
        content(&mut |bytes| out.write_all(bytes))?;
        out.flush()
    }

    /// The content of a file that begins with this frame, if it has the checksum; `None` if it is another sort of
    /// file, of another version or of something else, or damaged.
    pub(crate) fn content<'b>(
        &self,
        file: &'b [u8],
        checksum: impl FnOnce() -> Option<u64>,
    ) -> Option<&'b [u8]> {
        let is_same = file.starts_with(&self.magic)
            && file.get(VERSION..FIRST_KEY)? == self.version.to_le_bytes()
            && Self::keys(file)? == self.keys
            && number(file, Self::CHECKSUM)? == checksum()?;
        file.get(Self::LENGTH..).filter(|_| is_same)
    }

    /// The checksum of the content of a file.
    pub(crate) fn checksum(file: &[u8]) -> Option<u64> {
        Some(xxh3_64(file.get(Self::LENGTH..)?))
    }

    /// The same, read without mapping the file: pages that are looked at in a mapping stay in memory.
    #[cfg(feature = "mmap")]
    pub(crate) fn checksum_of_file(mut file: &File) -> io::Result<u64> {
        file.seek(SeekFrom::Start(Self::LENGTH as u64))?;
        let mut checksum = Xxh3Default::new();
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(checksum.digest()),
                some => checksum.update(&buffer[..some]),
            }
        }
    }

    /// What the content of a file is of, if it is such a file of any version.
    pub(crate) fn keys_of(file: &[u8], magic: [u8; 6]) -> Option<[u64; KEYS]> {
        Self::keys(file).filter(|_| file.starts_with(&magic) && file.len() >= Self::LENGTH)
    }

    /// Sets a key of such a file of any version. What is no such file stays as it is.
    pub(crate) fn set_key(file: &mut [u8], magic: [u8; 6], place: usize, key: u64) {
        let at = FIRST_KEY + 8 * place;
        if Self::keys_of(file, magic).is_some()
            && place < KEYS
            && let Some(bytes) = file.get_mut(at..at + 8)
        {
            bytes.copy_from_slice(&key.to_le_bytes());
        }
    }

    fn keys(file: &[u8]) -> Option<[u64; KEYS]> {
        let mut keys = [0; KEYS];
        for (place, key) in keys.iter_mut().enumerate() {
            *key = number(file, FIRST_KEY + 8 * place)?;
        }
        Some(keys)
    }
}

fn number(file: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*file.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame<2> = Frame { magic: *b"MTTEST", version: 3, keys: [7, 8] };

    fn read(frame: Frame<2>, file: &[u8]) -> Option<&[u8]> {
        frame.content(file, || Frame::<2>::checksum(file))
    }

    #[test]
    fn contents_are_read_by_the_frame_that_wrote_them_alone() {
        let mut file = Vec::new();
        FRAME.write(&mut file, |each| each(b"con").and_then(|()| each(b"tent"))).unwrap();
        assert_eq!(file[..8], *b"MTTEST\x03\x00");
        assert_eq!(file.len(), Frame::<2>::LENGTH + 7);
        assert_eq!(read(FRAME, &file), Some(&b"content"[..]));
        assert_eq!(Frame::<2>::keys_of(&file, *b"MTTEST"), Some([7, 8]));
        assert_eq!(Frame::<2>::keys_of(&file, *b"MTOTHE"), None);
        let mut of_another = file.clone();
        Frame::<2>::set_key(&mut of_another, *b"MTOTHE", 1, 9);
        assert_eq!(of_another, file);
        Frame::<2>::set_key(&mut of_another, *b"MTTEST", 1, 9);
        assert_eq!(read(FRAME, &of_another), None);
        assert_eq!(read(Frame { keys: [7, 9], ..FRAME }, &of_another), Some(&b"content"[..]));
        for other in [
            Frame { magic: *b"MTOTHE", ..FRAME },
            Frame { version: 4, ..FRAME },
            Frame { keys: [7, 9], ..FRAME },
        ] {
            assert_eq!(read(other, &file), None);
        }
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x10;
            assert_eq!(read(FRAME, &changed), None, "{at}");
            assert_eq!(read(FRAME, &file[..at]), None, "{at}");
        }
    }
}
