//! Maps a trace into memory. The only unsafe code of this crate.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// A trace file, mapped.
///
/// A file that is cut short by another process while it is mapped ends this one with `SIGBUS`,
/// so a trace that is still being written is better read with [`Follow`](crate::Follow).
#[derive(Debug)]
pub struct MappedTrace {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<memmap2::Mmap>,
}

impl MappedTrace {
    /// Maps the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is private to this process and only read. Writers only append to a
        // trace or fill in what they reserved, and the reader takes any bytes: a change under its
        // eyes makes it report anomalies, not misbehave.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Self { map: Some(map) })
    }
}

impl Deref for MappedTrace {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
