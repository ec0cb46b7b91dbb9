//! The file that a snapshot goes to: written by the copy itself, or by the launcher where the program
//! can no longer reach its recording.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use memtrail_recording::disk::Used;
use memtrail_recording::relay::{Operation, PAYLOAD, Refused};
use memtrail_recording::{mark_as_written, snapshot_name, unfinished_snapshot_name};

use crate::recording::folder::{Folder, OutOfReach};

/// Bytes after which the room that is left is looked at again: other processes may use it up meanwhile.
const STEP: u64 = 1 << 20;

/// The disk space that a file shares with the rest of its recording.
pub(super) struct Room {
    /// Bytes of all together; `None` if there is no limit.
    pub(super) disk: Option<u64>,
    /// True if recordings beside this one share them.
    pub(super) is_shared: bool,
}

impl Room {
    /// Bytes that may be added to a recording.
    fn left(&self, folder: &Folder) -> u64 {
        let left = |disk| Used::of(folder.path(), self.is_shared).room(disk, self.is_shared);
        self.disk.map_or(u64::MAX, left)
    }
}

/// A new file, written from its beginning.
pub(super) struct File<'a> {
    folder: &'a Folder,
    number: u64,
    /// Nothing if the launcher writes it.
    own: Option<fs::File>,
    length: u64,
    room: Room,
    /// Bytes that it may have until the room is looked at again.
    allowed: u64,
    is_full: bool,
}

impl<'a> File<'a> {
    pub(super) fn create(folder: &'a Folder, number: u64, room: Room) -> Result<Self, OutOfReach> {
        let own = folder.reach(
            |path| {
                let file = fs::OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(path.join(unfinished_snapshot_name(number)))?;
                mark_as_written(&file);
                Ok(Some(file))
            },
            || folder.call(Operation::BeginSnapshot(number), &[]).map(|()| None),
        )?;
        Ok(Self { folder, number, own, length: 0, room, allowed: 0, is_full: false })
    }

    /// True if it would have had more bytes than it may have.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Gives the file its name.
    pub(super) fn finish(&self) -> io::Result<()> {
        if self.own.is_none() {
            return self.call(Operation::FinishSnapshot(self.number), &[]);
        }
        let path = self.folder.path();
        let part = path.join(unfinished_snapshot_name(self.number));
        fs::rename(part, path.join(snapshot_name(self.number)))
    }

    /// Removes it.
    pub(super) fn remove(&self) {
        self.folder.remove_unfinished(self.number);
    }

    fn call(&self, operation: Operation, payload: &[u8]) -> io::Result<()> {
        self.folder.call(operation, payload).map_err(|refused| {
            io::Error::from_raw_os_error(match refused {
                Refused::Errno(errno) => errno,
                Refused::Gone => libc::EPIPE,
            })
        })
    }
}

impl io::Write for File<'_> {
    /// # Errors
    /// `EFBIG` beyond the limit.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wanted = self.length.saturating_add(bytes.len() as u64);
        if wanted > self.allowed {
            let some = self.room.left(self.folder).min(STEP.max(bytes.len() as u64));
            self.allowed = self.length.saturating_add(some);
        }
        if wanted > self.allowed {
            self.is_full = true;
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        let written = if let Some(file) = &mut self.own {
            file.write(bytes)?
        } else {
            let part = bytes.get(..PAYLOAD).unwrap_or(bytes);
            self.call(Operation::WriteSnapshot(self.number, self.length), part)?;
            part.len()
        };
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
