//! Maps files into memory, to be read: traces, snapshots, executables.
//!
//! The readers of these take any bytes: a file that another process changes while it is mapped makes
//! them report damage, not misbehave. One that is cut short meanwhile ends the process with `SIGBUS`,
//! so a trace that is still being written is better read piece by piece, and whoever keeps a file mapped
//! for long asks [`MappedFile::is_whole`] before each use.

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;

/// A file, mapped.
#[derive(Debug)]
pub struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<memmap2::Mmap>,
    extent: Extent,
}

/// A file of which so many bytes are mapped.
#[derive(Debug)]
pub struct Extent {
    file: File,
    length: u64,
}

impl Extent {
    /// All that a file has now.
    ///
    /// # Errors
    /// Those of looking at it.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self { length: file.metadata()?.len(), file: file.try_clone()? })
    }

    /// Whether all of it is still there: also of a file that has no name any more.
    pub fn is_whole(&self) -> bool {
        self.file.metadata().is_ok_and(|now| now.len() >= self.length)
    }
}

impl MappedFile {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// Those of opening and mapping it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(&File::open(path)?)
    }

    /// Maps an open file.
    ///
    /// # Errors
    /// Those of mapping it.
    pub fn of(file: &File) -> io::Result<Self> {
        let extent = Extent::of(file)?;
        if extent.length == 0 {
            return Ok(Self { map: None, extent });
        }
        // SAFETY: the map is private to this process and only read, as bytes of which nothing is
        // assumed; the readers check what they find.
        let map = unsafe { memmap2::Mmap::map(file)? };
        Ok(Self { map: Some(map), extent })
    }

    /// Whether the file has not been cut short since.
    pub fn is_whole(&self) -> bool {
        self.extent.is_whole()
    }

    /// Gives the pages that were read back to the system. They are read again when they are used.
    pub fn give_back(&self) {
        if let Some(map) = &self.map {
            // SAFETY: the map has the file's bytes, which come back, and is never written to. Where it fails, the pages stay.
            let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }

    /// The addresses that it covers.
    pub fn range(&self) -> Range<usize> {
        let range = self.as_ptr_range();
        range.start.addr()..range.end.addr()
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_mapped_file_has_its_bytes() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        assert_eq!(*MappedFile::open(file.path()).expect("an empty file"), []);
        file.write_all(b"trace").expect("written");
        let map = MappedFile::open(file.path()).expect("a file");
        assert_eq!(*map, *b"trace");
        assert_eq!(map.range().len(), 5);
    }

    #[test]
    fn a_file_that_is_cut_short_is_not_whole_any_more() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"trace").expect("written");
        let map = MappedFile::open(file.path()).expect("a file");
        file.write_all(b" and more").expect("written");
        assert!(map.is_whole());
        file.as_file().set_len(4).expect("cut");
        assert!(!map.is_whole());
    }

    #[test]
    fn what_cannot_be_opened_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = MappedFile::open(&folder.path().join("none")).expect_err("no such file");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
