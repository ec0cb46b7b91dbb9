//! A file of the recording that only grows: whole packets are appended, from whichever thread has one
//! ready.
//!
//! The program may give up the right to open the file: then the launcher appends. While the disk is full, packets wait in
//! memory.

use memtrail_recording::TRACE_FILE;
use memtrail_recording::collections::COLLECTIONS_FILE;
use memtrail_recording::memory::MEMORY_FILE;
use memtrail_recording::rates::RATES_FILE;
use memtrail_recording::relay::{Operation, Refused};
use memtrail_recording::threads::THREADS_FILE;
use memtrail_recording::waiting;

use crate::os::append_file::AppendFile;
use crate::recording::folder::Folder;
use crate::recording::live_packet::PACKET;
use crate::recording::relay;
use crate::recording::waiting::Waiting;

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

/// The disk is full, or the user's part of it.
fn is_full(errno: i32) -> bool {
    matches!(errno, libc::ENOSPC | libc::EDQUOT)
}

/// A file of the recording.
pub(crate) struct Output {
    part: FileKind,
    file: AppendFile,
    /// Length of the file: whole packets only.
    length: u64,
    /// The most that it may be.
    limit: u64,
    /// Packets for which the disk had no room.
    waiting: Option<Waiting>,
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
        Ok(Self { part, file, length: 0, limit: u64::MAX, waiting: None, failed: None })
    }

    /// Limits the length of the file.
    pub(crate) fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Goes on with the trace that the launcher has thinned, if there is one.
    pub(crate) fn take_over(&mut self, folder: &Folder) {
        if self.failed.is_some() || !folder.is_here() {
            return;
        }
        let waiting = &mut self.waiting;
        let renamed = |inode, length| {
            if let Some(waiting) = waiting {
                waiting.moves(inode, length);
            }
        };
        if let Some(length) = self.file.take_over(folder.thinned(), self.length, renamed) {
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

    /// Lets nothing more be written, in a forked child.
    pub(crate) fn close(&mut self) {
        self.failed = Some(libc::EBADF);
        // A forked child does not have the memory.
        self.waiting = None;
    }

    /// Bytes written, and those that wait.
    pub(crate) fn total(&self) -> u64 {
        self.length + self.waiting.as_ref().map_or(0, |waiting| waiting.rest().len() as u64)
    }

    /// Bytes of the memory for packets that wait, as far as it is in use.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.as_ref().map_or(0, Waiting::used)
    }

    /// Appends what waits, as far as there is room by now; true if nothing waits any more.
    pub(crate) fn append_waiting(&mut self, folder: &Folder) -> bool {
        // If the memory was used up, it has the samples from before those that are lost.
        if self.failed.is_some_and(|errno| !is_full(errno)) {
            return false;
        }
        let Some(mut waiting) = self.waiting.take() else { return true };
        while let Some(some) = waiting.rest().chunks(PACKET).next() {
            let count = some.len();
            match self.write(folder, some) {
                Ok(()) => waiting.were_appended(count),
                Err(errno) => {
                    if !is_full(errno) {
                        self.failed = Some(errno);
                    }
                    break;
                }
            }
        }
        let is_empty = waiting.is_empty();
        self.waiting = Some(waiting);
        is_empty
    }

    /// Keeps packets until there is room for them, or gives the error.
    fn wait(&mut self, folder: &Folder, packets: &[u8], errno: i32) -> Result<(), i32> {
        let file = self.file.inode().ok_or(errno)?;
        if self.total() + packets.len() as u64 > self.limit {
            return Err(libc::EDQUOT);
        }
        let most =
            if matches!(self.part, FileKind::Trace) { waiting::TRACE } else { waiting::OTHERS };
        if self.waiting.is_none() {
            self.waiting = Waiting::make(&folder.waiting(self.part.name()), most);
        }
        let waiting = self.waiting.as_mut().ok_or(errno)?;
        if waiting.push(packets, (file, self.length)) { Ok(()) } else { Err(errno) }
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
        let appended = if self.append_waiting(folder) {
            self.append_now(folder, packets)
        } else {
            Err(self.failed.unwrap_or(libc::ENOSPC))
        };
        let kept = appended.or_else(|errno| {
            if is_full(errno) && self.failed.is_none() {
                self.wait(folder, packets, errno)
            } else {
                Err(errno)
            }
        });
        if let Err(errno) = kept {
            self.failed = Some(errno);
        }
        kept
    }

    fn append_now(&mut self, folder: &Folder, packets: &[u8]) -> Result<(), i32> {
        let is_too_long = |output: &Self| output.length + packets.len() as u64 > output.limit;
        if is_too_long(self) {
            self.take_over(folder);
        }
        if is_too_long(self) {
            self.failed = Some(libc::EDQUOT);
            return Err(libc::EDQUOT);
        }
        self.write(folder, packets)
    }

    fn write(&mut self, folder: &Folder, packets: &[u8]) -> Result<(), i32> {
        let written = match self.file.append(packets, self.length) {
            Err(errno) if relay::may_help(errno) => self.append_elsewhere(folder, packets, errno),
            written => written,
        };
        written.inspect(|()| self.length += packets.len() as u64)
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
