//! The file that a snapshot goes to.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

/// A new file, written from its beginning.
pub(super) struct File(fs::File);

impl File {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        // Who finds the file later can tell whether it is still being written. Some file systems
        // have no locks.
        let _ = file.lock();
        Ok(Self(file))
    }

    /// Replaces what was written before.
    pub(super) fn overwrite(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }
}

impl io::Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
