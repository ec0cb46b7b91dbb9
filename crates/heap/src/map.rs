//! Maps files into memory: snapshots, and the index that is to be checked.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;

/// A snapshot file, mapped.
///
/// Snapshots get their names when they are whole, and are not changed any more; a file that is cut
/// short all the same while it is mapped ends the process with `SIGBUS`.
#[derive(Debug)]
pub struct MappedSnapshot {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<memmap2::Mmap>,
}

impl MappedSnapshot {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// Those of opening and mapping it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(&File::open(path)?)
    }

    /// Maps an open file.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is private to this process and only read. The reader takes any bytes: a
        // change under its eyes makes it report damage, not misbehave.
        let map = unsafe { memmap2::Mmap::map(file)? };
        Ok(Self { map: Some(map) })
    }
}

impl Deref for MappedSnapshot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

impl MappedSnapshot {
    /// Where it is in memory.
    #[cfg(feature = "analysis")]
    pub(crate) fn range(&self) -> Range<usize> {
        let range = self.as_ptr_range();
        range.start.addr()..range.end.addr()
    }
}
