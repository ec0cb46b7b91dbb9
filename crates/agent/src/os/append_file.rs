//! A file that only grows, in a process that may list, close or reuse any descriptor.
//!
//! It is open only while something is appended. The descriptor is high then, where the program does not expect its own.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use memtrail_recording::thinned::{TRAILER, parse_trailer};
use memtrail_sampler::without_signals;

use crate::os::limits::{file_size_limit, limit};

/// Descriptors below this stay the target's; the limit on open files may force a lower one.
const RESERVED_FROM: libc::c_int = 1000;

/// An append-only file that is found again by its path.
pub(crate) struct AppendFile {
    path: CString,
    /// Device and inode; nothing if this process has never opened it.
    identity: Option<(u64, u64)>,
}

/// The file while something is appended.
struct OpenFile {
    descriptor: libc::c_int,
    identity: (u64, u64),
}

impl AppendFile {
    /// A file that somebody else writes.
    pub(crate) fn elsewhere() -> Self {
        Self { path: CString::default(), identity: None }
    }

    /// Creates the file; it must not exist.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let opened = OpenFile::open(&path, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL);
        let opened = opened.map_err(io::Error::from_raw_os_error)?;
        Ok(Self { path, identity: Some(opened.identity) })
    }

    /// Appends to the file, which has this length so far: all, or nothing. The error is `EBADF` if another file has its
    /// path, or the program closed the descriptor meanwhile.
    pub(crate) fn append(&self, bytes: &[u8], length: u64) -> Result<(), i32> {
        let opened = self.open()?;
        if file_size_limit() < length + bytes.len() as u64 {
            // The write would kill the target with SIGXFSZ.
            return Err(libc::EFBIG);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            // SAFETY: the buffer is valid for its length.
            let written =
                unsafe { libc::write(opened.descriptor, rest.as_ptr().cast(), rest.len()) };
            if written > 0 {
                rest = rest.get(written as usize..).unwrap_or_default();
                continue;
            }
            let errno = errno();
            if errno == libc::EINTR {
                continue;
            }
            if !opened.is_still_there() {
                return Err(libc::EBADF);
            }
            opened.truncate(length);
            return Err(errno);
        }
        Ok(())
    }

    /// Takes away what follows `length`: an append that was interrupted may have left a part of a packet.
    pub(crate) fn truncate(&self, length: u64) {
        if let Ok(opened) = self.open() {
            opened.truncate(length);
        }
    }

    /// Goes on with the file at `fresh`, which is made of the beginning of this one; its trailer says of how much
    /// ([`memtrail_recording::thinned`]). What this file, of so many bytes, has more is appended to it. Gives the new
    /// length; nothing if all stays as it is, and then no file is at `fresh`. `renamed` gets its inode and length before
    /// it has this file's name.
    pub(crate) fn take_over(
        &mut self,
        fresh: &CStr,
        length: u64,
        renamed: impl FnOnce(u64, u64),
    ) -> Option<u64> {
        let opened = OpenFile::open(fresh, libc::O_RDWR).ok()?;
        let taken = self.complete(&opened, length).filter(|&complete| {
            renamed(opened.identity.1, complete);
            // SAFETY: C strings.
            unsafe { libc::rename(fresh.as_ptr(), self.path.as_ptr()) == 0 }
        });
        if taken.is_some() {
            self.identity = Some(opened.identity);
        } else {
            // SAFETY: a C string.
            unsafe { libc::unlink(fresh.as_ptr()) };
        }
        taken
    }

    /// Appends to a file in place of its trailer what it lacks of this one. Gives its length.
    fn complete(&self, fresh: &OpenFile, length: u64) -> Option<u64> {
        /// More is not copied: a thread of the program's may wait for it.
        const MAX_TAIL: u64 = 64 << 20;
        let kept = fresh.size()?.checked_sub(TRAILER as u64)?;
        let mut trailer = [0; TRAILER];
        if fresh.read_at(&mut trailer, kept) != Some(TRAILER) {
            return None;
        }
        let mut at = parse_trailer(&trailer)?;
        let complete = kept + length.checked_sub(at).filter(|&more| more <= MAX_TAIL)?;
        if file_size_limit() < complete {
            return None;
        }
        fresh.truncate(kept);
        let old = self.open_with(libc::O_RDWR).ok()?;
        let mut buffer = [0; 4096];
        while at < length {
            let most = (length - at).min(buffer.len() as u64) as usize;
            let part = buffer.get_mut(..most)?;
            let count = old.read_at(part, at).filter(|&count| count > 0)?;
            if !fresh.write_all(part.get(..count)?) {
                return None;
            }
            at += count as u64;
        }
        // The program may have closed a descriptor meanwhile.
        (fresh.size() == Some(complete)).then_some(complete)
    }

    /// Removes a file whose writer was killed: one that writes it holds a lock on it.
    pub(crate) fn remove_abandoned(path: &CStr) {
        let Ok(opened) = OpenFile::open(path, libc::O_RDONLY) else { return };
        // SAFETY: plain system calls on a file of ours, and a C string.
        unsafe {
            let is_locked = libc::flock(opened.descriptor, libc::LOCK_EX | libc::LOCK_NB) == 0;
            if is_locked && opened.is_still_there() {
                libc::unlink(path.as_ptr());
            }
        }
    }

    /// The file's inode; nothing if this process has never opened it.
    pub(crate) fn inode(&self) -> Option<u64> {
        self.identity.map(|(_, inode)| inode)
    }

    fn open(&self) -> Result<OpenFile, i32> {
        self.open_with(libc::O_WRONLY)
    }

    fn open_with(&self, access: libc::c_int) -> Result<OpenFile, i32> {
        let identity = self.identity.ok_or(libc::EBADF)?;
        let opened = OpenFile::open(&self.path, access)?;
        if opened.identity == identity { Ok(opened) } else { Err(libc::EBADF) }
    }
}

impl OpenFile {
    fn open(path: &CStr, access: libc::c_int) -> Result<Self, i32> {
        let flags = libc::O_APPEND | libc::O_CLOEXEC | libc::O_NOFOLLOW | access;
        let highest = limit(libc::RLIMIT_NOFILE).saturating_sub(8).max(3);
        let from = RESERVED_FROM.min(highest.try_into().unwrap_or(RESERVED_FROM));
        // No handler of the program's may meet the low number.
        without_signals(|| {
            // SAFETY: the path is a C string; descriptors are checked.
            unsafe {
                let low = libc::open(path.as_ptr(), flags, 0o600);
                if low < 0 {
                    return Err(errno());
                }
                let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, from);
                let descriptor = if high >= 0 {
                    libc::close(low);
                    high
                } else {
                    low
                };
                match identity(descriptor) {
                    Some(identity) => Ok(Self { descriptor, identity }),
                    None => Err(libc::EBADF),
                }
            }
        })
    }

    /// False if another thread has closed the descriptor: programs that close all that they know nothing of are common
    /// among servers. The number may be that of a file of the program's by now.
    fn is_still_there(&self) -> bool {
        identity(self.descriptor) == Some(self.identity)
    }

    /// Bytes in the file, if it is still there.
    fn size(&self) -> Option<u64> {
        // SAFETY: an all-zero stat is valid, and fstat fills it.
        unsafe {
            let mut status: libc::stat = std::mem::zeroed();
            let is_there = libc::fstat(self.descriptor, &raw mut status) == 0
                && (status.st_dev, status.st_ino) == self.identity;
            is_there.then_some(status.st_size as u64)
        }
    }

    /// Reads into a buffer, and gives the number of bytes that were there.
    fn read_at(&self, to: &mut [u8], at: u64) -> Option<usize> {
        // SAFETY: the buffer is valid for its length.
        let count = unsafe {
            libc::pread(self.descriptor, to.as_mut_ptr().cast(), to.len(), at as libc::off_t)
        };
        usize::try_from(count).ok()
    }

    /// Appends to the file; true if all is written.
    fn write_all(&self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        while !rest.is_empty() {
            // SAFETY: the buffer is valid for its length.
            let written = unsafe { libc::write(self.descriptor, rest.as_ptr().cast(), rest.len()) };
            let Ok(written @ 1..) = usize::try_from(written) else { return false };
            rest = rest.get(written..).unwrap_or_default();
        }
        true
    }

    fn truncate(&self, length: u64) {
        // SAFETY: plain system call on our file.
        unsafe { libc::ftruncate(self.descriptor, length as libc::off_t) };
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if self.is_still_there() {
            // SAFETY: the descriptor names our file.
            unsafe { libc::close(self.descriptor) };
        }
    }
}

/// Device and inode of an open file.
fn identity(descriptor: libc::c_int) -> Option<(u64, u64)> {
    // SAFETY: an all-zero stat is valid, and fstat fills it.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &raw mut status) == 0).then_some((status.st_dev, status.st_ino))
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of what this process has open as files of a folder.
    fn open_in(folder: &Path) -> Vec<std::path::PathBuf> {
        let all = std::fs::read_dir("/proc/self/fd").unwrap();
        let names = all.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
        names.filter(|name| name.starts_with(folder)).collect()
    }

    #[test]
    fn nothing_stays_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let file = AppendFile::create(&path).unwrap();
        assert!(open_in(folder.path()).is_empty());
        file.append(b"one", 0).unwrap();
        file.append(b"two", 3).unwrap();
        assert!(open_in(folder.path()).is_empty());
        assert_eq!(std::fs::read(&path).unwrap(), b"onetwo");
    }

    #[test]
    fn another_file_at_the_path_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let file = AppendFile::create(&path).unwrap();
        file.append(b"one", 0).unwrap();
        let moved = folder.path().join("moved");
        std::fs::rename(&path, &moved).unwrap();
        assert_eq!(file.append(b"two", 3), Err(libc::ENOENT));
        std::fs::write(&path, b"theirs").unwrap();
        assert_eq!(file.append(b"two", 3), Err(libc::EBADF));
        file.truncate(0);
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        std::fs::rename(&moved, &path).unwrap();
        file.append(b"two", 3).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"onetwo");
    }

    #[test]
    fn a_descriptor_is_high_while_it_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = CString::new(folder.path().join("trace").as_os_str().as_bytes()).unwrap();
        let opened = OpenFile::open(&path, libc::O_WRONLY | libc::O_CREAT).unwrap();
        assert!(opened.descriptor >= RESERVED_FROM);
    }

    #[test]
    fn a_thinned_file_is_completed_and_takes_the_place_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, thinned) = (folder.path().join("trace"), folder.path().join("thinned"));
        let fresh = CString::new(thinned.as_os_str().as_bytes()).unwrap();
        let mut file = AppendFile::create(&path).unwrap();
        assert_eq!(file.take_over(&fresh, 0, |_, _| ()), None, "there is none");
        let long = vec![b'x'; 10_000];
        file.append(b"history, ", 0).unwrap();
        file.append(&long, 9).unwrap();
        let trailer = memtrail_recording::thinned::trailer(9);
        std::fs::write(&thinned, [b"hist, ".as_slice(), &trailer].concat()).unwrap();
        let mut announced = None;
        let taken =
            file.take_over(&fresh, 10_009, |inode, length| announced = Some((inode, length)));
        assert_eq!(taken, Some(10_006));
        assert_eq!(announced, file.inode().map(|inode| (inode, 10_006)));
        file.append(b"more", 10_006).unwrap();
        let expected = [b"hist, ".as_slice(), &long, b"more"].concat();
        assert!(std::fs::read(&path).unwrap() == expected && !thinned.exists());
        // It is of a longer file, is cut short, or has no trailer.
        let wrong = memtrail_recording::thinned::trailer(10_011);
        for bad in [wrong.as_slice(), &trailer[..15], b"something that is no trailer"] {
            std::fs::write(&thinned, bad).unwrap();
            assert_eq!(file.take_over(&fresh, 10_010, |_, _| ()), None);
            assert!(std::fs::read(&path).unwrap() == expected && !thinned.exists());
        }
    }

    #[test]
    fn a_file_goes_with_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thinned");
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        AppendFile::remove_abandoned(&name);
        let writer = std::fs::File::create(&path).unwrap();
        writer.try_lock().unwrap();
        AppendFile::remove_abandoned(&name);
        assert!(path.exists(), "it is being written");
        drop(writer);
        AppendFile::remove_abandoned(&name);
        assert!(!path.exists());
    }

    #[test]
    fn a_part_that_was_written_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let file = AppendFile::create(&path).unwrap();
        file.append(b"whole, half", 0).unwrap();
        file.truncate(5);
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    fn a_file_that_is_there_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, b"theirs").unwrap();
        assert!(AppendFile::create(&path).is_err());
    }
}
