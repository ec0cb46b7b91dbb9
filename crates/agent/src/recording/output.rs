//! A file of the recording that only grows: whole packets are appended, from whichever thread has one
//! ready.
//!
//! The program may close our descriptor, and give up the right to open the file again: then the
//! launcher appends.

use memtrail_recording::TRACE_FILE;
use memtrail_recording::collections::COLLECTIONS_FILE;
use memtrail_recording::memory::MEMORY_FILE;
use memtrail_recording::rates::RATES_FILE;
use memtrail_recording::relay::{Operation, Refused};
use memtrail_recording::threads::THREADS_FILE;

use crate::os::append_file::AppendFile;
use crate::recording::folder::Folder;

/// Which file of the recording it is.
#[derive(Clone, Copy)]
pub(crate) enum FileKind {
    Trace,
    Threads,
    Rates,
    Memory,
    Collections,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            Self::Trace => TRACE_FILE,
            Self::Threads => THREADS_FILE,
            Self::Rates => RATES_FILE,
            Self::Memory => MEMORY_FILE,
            Self::Collections => COLLECTIONS_FILE,
        }
    }

    fn write_at(self, offset: u64) -> Operation {
        match self {
            Self::Trace => Operation::Trace(offset),
            Self::Threads => Operation::Threads(offset),
            Self::Rates => Operation::Rates(offset),
            Self::Memory => Operation::Memory(offset),
            Self::Collections => Operation::Collections(offset),
        }
    }
}

/// A file of the recording.
pub(crate) struct Output {
    part: FileKind,
    file: AppendFile,
    /// Length of the file: whole packets only.
    length: u64,
    /// Set when a write failed; nothing is written any more.
    failed: Option<i32>,
}

impl Output {
    /// Creates the file; it must not exist. Gives the system's error number.
    pub(crate) fn create(folder: &Folder, part: FileKind) -> Result<Self, i32> {
        let file = folder.reach(
            |path| AppendFile::create(&path.join(part.name())),
            || folder.call(part.write_at(0), &[]).map(|()| AppendFile::ELSEWHERE),
        );
        let file = file.map_err(|error| error.errno)?;
        Ok(Self { part, file, length: 0, failed: None })
    }

    /// Bytes written.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Closes it in a forked child: nothing is written any more.
    pub(crate) fn close(&mut self) {
        self.file.close();
        self.failed = Some(libc::EBADF);
    }

    /// Appends whole packets, or gives the error that ends writing: the file ends with the last
    /// whole packet before it.
    pub(crate) fn append(&mut self, folder: &Folder, packets: &[u8]) -> Result<(), i32> {
        if let Some(errno) = self.failed {
            return Err(errno);
        }
        if packets.is_empty() {
            return Ok(());
        }
        let written = match self.file.append(packets, self.length) {
            Err(libc::EBADF) => self.append_elsewhere(folder, packets),
            written => written,
        };
        match written {
            Ok(()) => self.length += packets.len() as u64,
            Err(errno) => self.failed = Some(errno),
        }
        written
    }

    /// Without a descriptor: the launcher writes, or else the file is opened again.
    fn append_elsewhere(&mut self, folder: &Folder, packets: &[u8]) -> Result<(), i32> {
        match folder.call(self.part.write_at(self.length), packets) {
            Ok(()) => return Ok(()),
            Err(Refused::Errno(errno)) => return Err(errno),
            Err(Refused::Gone) => {}
        }
        self.file.reopen(&folder.path().join(self.part.name()), self.length)?;
        self.file.append(packets, self.length)
    }
}
