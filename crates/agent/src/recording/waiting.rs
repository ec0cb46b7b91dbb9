//! Keeps bytes for which the disk has no room, in memory that is shared with the launcher's session
//! ([`memtrail_recording::waiting`]).

use std::path::Path;
use std::sync::atomic::{Ordering::Release, compiler_fence};

use memtrail_recording::waiting::{FILES, HEADER};

use crate::os::shared_memory;

/// Bytes that wait for room in a file.
pub(crate) struct Waiting {
    memory: &'static mut [u8],
    /// Bytes that wait, and bytes that were appended since.
    count: usize,
    /// Bytes of these that were appended.
    appended: usize,
    /// The place in the header that has the file, one of two.
    place: usize,
}

impl Waiting {
    /// Makes the memory, for so many bytes; `None` if it would be lost with the process.
    pub(crate) fn make(session_file: &Path, bytes: usize) -> Option<Self> {
        let memory = shared_memory::map(session_file, HEADER + bytes)?;
        Some(Self { memory, count: 0, appended: 0, place: 0 })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the memory in use.
    pub(crate) fn used(&self) -> usize {
        self.count
    }

    /// Adds bytes for the file with this inode and length; false if there is no room.
    pub(crate) fn push(&mut self, bytes: &[u8], (inode, length): (u64, u64)) -> bool {
        let from = HEADER + self.count;
        let Some(to) = self.memory.get_mut(from..from + bytes.len()) else { return false };
        to.copy_from_slice(bytes);
        if self.is_empty() {
            self.note_file(inode, length);
        }
        self.set_count(self.count + bytes.len());
        true
    }

    /// Bytes that were not appended yet.
    pub(crate) fn rest(&self) -> &[u8] {
        self.memory.get(HEADER + self.appended..HEADER + self.count).unwrap_or_default()
    }

    /// So many of them were appended.
    pub(crate) fn were_appended(&mut self, bytes: usize) {
        self.appended += bytes;
        if self.appended >= self.count {
            self.set_count(0);
            self.appended = 0;
        }
    }

    /// Another file of this inode and length is about to take the file's name.
    pub(crate) fn moves(&mut self, inode: u64, length: u64) {
        if !self.is_empty() {
            self.place = (self.place + 1) % FILES.len();
            self.note_file(inode, length.wrapping_sub(self.appended as u64));
        }
    }

    fn note_file(&mut self, inode: u64, before: u64) {
        let at = FILES.get(self.place).copied().unwrap_or_default();
        self.store(at, inode);
        self.store(at + 8, before);
    }

    fn set_count(&mut self, count: usize) {
        // The process may be killed between any two stores.
        compiler_fence(Release);
        self.store(0, count as u64);
        compiler_fence(Release);
        self.count = count;
    }

    fn store(&mut self, at: usize, number: u64) {
        if let Some(place) = self.memory.get_mut(at..at + 8) {
            place.copy_from_slice(&number.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use memtrail_recording::waiting;

    use super::*;

    /// Gives the bytes that the launcher would append to a file.
    fn rest(file: &Path, inode: u64, length: u64) -> Option<Vec<u8>> {
        let memory = std::fs::read(file).unwrap();
        waiting::Waiting::read(&memory, inode, length).map(|found| found.rest().to_vec())
    }

    #[test]
    fn a_launcher_reads_what_a_file_lacks_at_every_moment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("waiting");
        let mut waiting = Waiting::make(&file, 10).unwrap();
        assert_eq!(rest(&file, 5, 100), None);
        assert!(waiting.push(b"one,", (5, 100)) && waiting.push(b"two", (5, 100)));
        assert!(!waiting.push(b"long", (5, 100)), "ten bytes");
        assert_eq!(rest(&file, 5, 100).as_deref(), Some(&b"one,two"[..]));
        waiting.were_appended(2);
        assert_eq!(rest(&file, 5, 102).as_deref(), Some(&b"e,two"[..]));
        // Until the thinned trace has its name, and then.
        waiting.moves(7, 40);
        assert_eq!(rest(&file, 5, 102).as_deref(), Some(&b"e,two"[..]));
        assert_eq!(rest(&file, 7, 40).as_deref(), Some(&b"e,two"[..]));
        assert_eq!((waiting.rest(), waiting.used()), (&b"e,two"[..], 7));
        waiting.were_appended(5);
        assert!(waiting.is_empty() && waiting.push(b"more", (7, 45)));
        assert_eq!(rest(&file, 7, 45).as_deref(), Some(&b"more"[..]));
    }
}
