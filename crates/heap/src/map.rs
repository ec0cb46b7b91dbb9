//! Maps a snapshot into memory. The only unsafe code of this crate.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
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
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is private to this process and only read. The reader takes any bytes: a
        // change under its eyes makes it report damage, not misbehave.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Self { map: Some(map) })
    }
}

impl Deref for MappedSnapshot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
