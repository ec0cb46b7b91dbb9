//! A file of the recording that only grows: whole packets are appended, from whichever thread has one
//! ready.
//!
//! The program may give up the right to open the file: then the launcher appends.

use memtrail_recording::TRACE_FILE;
use memtrail_recording::collections::COLLECTIONS_FILE;
use memtrail_recording::memory::MEMORY_FILE;
use memtrail_recording::rates::RATES_FILE;
use memtrail_recording::relay::{Operation, Refused};
use memtrail_recording::threads::THREADS_FILE;

use crate::os::append_file::AppendFile;
use crate::recording::folder::Folder;
use crate::recording::relay;

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
    /// The most that it may be.
    limit: u64,
    /// Set when a write failed; nothing is written any more.
    failed: Option<i32>,
}

impl Output {
    /// Creates the file; it must not exist. Gives the system's error number.
    pub(crate) fn create(folder: &Folder, part: FileKind) -> Result<Self, i32> {
        let file = folder.reach(
            |path| AppendFile::create(&path.join(part.name())),
            || folder.call(part.write_at(0), &[]).map(|()| AppendFile::elsewhere()),
        );
        let file = file.map_err(|error| error.errno)?;
        Ok(Self { part, file, length: 0, limit: u64::MAX, failed: None })
    }

    /// Limits the length of the file.
    pub(crate) fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Goes on with the trace that the launcher has thinned, if there is one.
    pub(crate) fn take_over(&mut self, folder: &Folder) {
        if self.failed.is_none()
            && folder.is_here()
            && let Some(length) = self.file.take_over(folder.thinned(), self.length)
        {
            self.length = length;
        }
    }

    /// Removes the beginnings of a thinned trace that a launcher which was killed has left.
    pub(crate) fn remove_abandoned(folder: &Folder) {
        if folder.is_here() {
            AppendFile::remove_abandoned(folder.unfinished());
        }
    }

    /// Removes all of a thinned trace, as nothing is appended any more.
    pub(crate) fn remove_thinned(folder: &Folder) {
        if folder.is_here() {
            // SAFETY: a C string.
            unsafe { libc::unlink(folder.thinned().as_ptr()) };
            AppendFile::remove_abandoned(folder.unfinished());
        }
    }

    /// Bytes written.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Lets nothing more be written, in a forked child.
    pub(crate) fn close(&mut self) {
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
        let is_too_long = |output: &Self| output.length + packets.len() as u64 > output.limit;
        if is_too_long(self) {
            self.take_over(folder);
        }
        if is_too_long(self) {
            self.failed = Some(libc::EDQUOT);
            return Err(libc::EDQUOT);
        }
        let written = match self.file.append(packets, self.length) {
            Err(errno) if relay::may_help(errno) => self.append_elsewhere(folder, packets, errno),
            written => written,
        };
        match written {
            Ok(()) => self.length += packets.len() as u64,
            Err(errno) => self.failed = Some(errno),
        }
        written
    }

    /// Has the launcher write, as this process got an error.
    fn append_elsewhere(&self, folder: &Folder, packets: &[u8], errno: i32) -> Result<(), i32> {
        match folder.call(self.part.write_at(self.length), packets) {
            Ok(()) => Ok(()),
            Err(Refused::Errno(errno)) => Err(errno),
            Err(Refused::Gone) => {
                // A thread of the program's may have closed the descriptor in the midst of a packet.
                self.file.truncate(self.length);
                self.file.append(packets, self.length).map_err(|again| match again {
                    libc::EBADF => errno,
                    again => again,
                })
            }
        }
    }
}
