//! A file that only grows, in a process that may close or reuse any descriptor.
//!
//! The descriptor is high, where the program does not expect its own, and is checked before each use.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::os::limits::{file_size_limit, limit};

/// Descriptors below this stay the target's; the limit on open files may force a lower one.
const RESERVED_FROM: libc::c_int = 1000;

/// An append-only file that notices when the target closed or reused its descriptor.
pub(crate) struct AppendFile {
    /// -1 if there is none.
    descriptor: libc::c_int,
    /// Which file it is; 0 if it was never open here.
    device: u64,
    inode: u64,
}

impl AppendFile {
    /// A file that somebody else writes.
    pub(crate) const ELSEWHERE: Self = Self { descriptor: -1, device: 0, inode: 0 };

    /// Creates the file; it must not exist.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut file = Self::ELSEWHERE;
        file.open(path, libc::O_CREAT | libc::O_EXCL)?;
        let status = file.status().ok_or_else(io::Error::last_os_error)?;
        (file.device, file.inode) = (status.st_dev, status.st_ino);
        Ok(file)
    }

    /// Opens it again, and takes what follows `length` away: a write that was interrupted may have left
    /// a part of a packet. The error is `EBADF` if it is another file.
    pub(crate) fn reopen(&mut self, path: &Path, length: u64) -> Result<(), i32> {
        self.open(path, 0).map_err(|error| error.raw_os_error().unwrap_or(libc::EBADF))?;
        if !self.is_ours() {
            // Another file has taken its place, or the program was faster once more.
            return Err(libc::EBADF);
        }
        self.truncate(length);
        Ok(())
    }

    /// Appends to the file, which has this length so far: all, or nothing. The error is `EBADF` if the
    /// program has taken the descriptor.
    pub(crate) fn append(&self, bytes: &[u8], length: u64) -> Result<(), i32> {
        if !self.is_ours() {
            return Err(libc::EBADF);
        }
        if file_size_limit() < length + bytes.len() as u64 {
            // The write would kill the target with SIGXFSZ.
            return Err(libc::EFBIG);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            // SAFETY: the buffer is valid for its length.
            let written = unsafe { libc::write(self.descriptor, rest.as_ptr().cast(), rest.len()) };
            if written > 0 {
                rest = rest.get(written as usize..).unwrap_or_default();
                continue;
            }
            let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            if errno == libc::EINTR {
                continue;
            }
            if self.is_ours() {
                self.truncate(length);
                return Err(errno);
            }
            return Err(libc::EBADF);
        }
        Ok(())
    }

    /// Closes it in a forked child, which has no use for it.
    pub(crate) fn close(&mut self) {
        if self.is_ours() {
            // SAFETY: the descriptor names our file.
            unsafe { libc::close(self.descriptor) };
        }
        *self = Self::ELSEWHERE;
    }

    fn truncate(&self, length: u64) {
        // SAFETY: plain system call on our file.
        unsafe { libc::ftruncate(self.descriptor, length as libc::off_t) };
    }

    fn open(&mut self, path: &Path, extra: libc::c_int) -> io::Result<()> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the path is a C string; descriptors are checked.
        unsafe {
            let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC | libc::O_NOFOLLOW;
            let low = libc::open(path.as_ptr(), flags | extra, 0o600);
            if low < 0 {
                return Err(io::Error::last_os_error());
            }
            let highest = limit(libc::RLIMIT_NOFILE).saturating_sub(8).max(3);
            let from = RESERVED_FROM.min(highest.try_into().unwrap_or(RESERVED_FROM));
            let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, from);
            self.descriptor = if high >= 0 {
                libc::close(low);
                high
            } else {
                low
            };
        }
        Ok(())
    }

    fn status(&self) -> Option<libc::stat> {
        // SAFETY: an all-zero stat is valid, and fstat fills it.
        unsafe {
            let mut status: libc::stat = std::mem::zeroed();
            (libc::fstat(self.descriptor, &raw mut status) == 0).then_some(status)
        }
    }

    /// Programs that close every descriptor they know nothing of are common among servers; the
    /// number may since name a file of theirs.
    fn is_ours(&self) -> bool {
        self.inode != 0
            && self.status().is_some_and(|s| s.st_dev == self.device && s.st_ino == self.inode)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn a_descriptor_that_was_taken_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let mut file = AppendFile::create(&path).unwrap();
        assert!(file.descriptor >= RESERVED_FROM);
        file.append(b"one", 0).unwrap();
        let other = folder.path().join("other");
        std::fs::write(&other, b"theirs").unwrap();
        let theirs = std::fs::OpenOptions::new().append(true).open(&other).unwrap();
        // SAFETY: lets our number name another file, as a program does that closes what it does not know.
        unsafe { libc::dup2(theirs.as_raw_fd(), file.descriptor) };
        assert_eq!(file.append(b"two", 3), Err(libc::EBADF));
        file.reopen(&path, 3).unwrap();
        file.append(b"two", 3).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"onetwo");
        assert_eq!(std::fs::read(&other).unwrap(), b"theirs");
    }

    #[test]
    fn a_part_that_was_written_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let mut file = AppendFile::create(&path).unwrap();
        file.append(b"whole, half", 0).unwrap();
        file.reopen(&path, 5).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(file.reopen(&folder.path().join("absent"), 0), Err(libc::ENOENT));
    }

    #[test]
    fn a_file_that_is_there_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, b"theirs").unwrap();
        assert!(AppendFile::create(&path).is_err());
    }
}
