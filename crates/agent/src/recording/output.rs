//! A file of the recording that only grows: whole packets are appended, from whichever thread has one
//! ready.
//!
//! The program may close our descriptor, and give up the right to open the file again: then the
//! launcher appends.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use memtrail_recording::TRACE_FILE;
use memtrail_recording::rates::RATES_FILE;
use memtrail_recording::relay::{Operation, Refused};
use memtrail_recording::threads::THREADS_FILE;

use crate::recording::folder::Folder;

/// Descriptors below this stay the target's; the limit on open files may force a lower one.
const RESERVED_FROM: libc::c_int = 1000;

/// Which file of the recording it is.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Trace,
    Threads,
    Rates,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Trace => TRACE_FILE,
            Self::Threads => THREADS_FILE,
            Self::Rates => RATES_FILE,
        }
    }

    fn write_at(self, offset: u64) -> Operation {
        match self {
            Self::Trace => Operation::Trace(offset),
            Self::Threads => Operation::Threads(offset),
            Self::Rates => Operation::Rates(offset),
        }
    }
}

/// An append-only file that notices when the target closed or reused its descriptor.
pub(crate) struct Output {
    part: Part,
    /// -1 if there is none.
    descriptor: libc::c_int,
    /// Which file it is; 0 if only the launcher has seen it.
    device: u64,
    inode: u64,
    /// Length of the file: whole packets only.
    length: u64,
    /// Set when a write failed; nothing is written any more.
    failed: Option<i32>,
}

impl Output {
    /// Creates the file; it must not exist. Gives the system's error number.
    pub(crate) fn create(folder: &Folder, part: Part) -> Result<Self, i32> {
        let mut output =
            Self { part, descriptor: -1, device: 0, inode: 0, length: 0, failed: None };
        let by_itself = |path: &Path| {
            output.open(path, libc::O_CREAT | libc::O_EXCL)?;
            output.status().ok_or_else(io::Error::last_os_error).map(Some)
        };
        let by_launcher = || folder.call(part.write_at(0), &[]).map(|()| None);
        let made = folder.reach(by_itself, by_launcher).map_err(|error| error.errno)?;
        if let Some(status) = made {
            (output.device, output.inode) = (status.st_dev, status.st_ino);
        }
        Ok(output)
    }

    /// Bytes written.
    pub(crate) fn length(&self) -> u64 {
        self.length
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
        let written = match self.write(packets) {
            Err(libc::EBADF) => self.write_elsewhere(folder, packets),
            written => written,
        };
        match written {
            Ok(()) => self.length += packets.len() as u64,
            Err(errno) => self.failed = Some(errno),
        }
        written
    }

    /// Writes to our descriptor; `EBADF` if the program has taken it.
    fn write(&self, packets: &[u8]) -> Result<(), i32> {
        if !self.is_ours() {
            return Err(libc::EBADF);
        }
        if file_size_limit() < self.length + packets.len() as u64 {
            // The write would kill the target with SIGXFSZ.
            return Err(libc::EFBIG);
        }
        let mut rest = packets;
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
                // SAFETY: plain system call.
                unsafe { libc::ftruncate(self.descriptor, self.length as libc::off_t) };
                return Err(errno);
            }
            return Err(libc::EBADF);
        }
        Ok(())
    }

    /// Without a descriptor: the launcher writes, or else the file is opened again.
    fn write_elsewhere(&mut self, folder: &Folder, packets: &[u8]) -> Result<(), i32> {
        match folder.call(self.part.write_at(self.length), packets) {
            Ok(()) => return Ok(()),
            Err(Refused::Errno(errno)) => return Err(errno),
            Err(Refused::Gone) => {}
        }
        self.open(folder.path(), 0).map_err(|e| e.raw_os_error().unwrap_or(libc::EBADF))?;
        if !self.is_ours() {
            // Another file has taken its place, or the program was faster once more.
            return Err(libc::EBADF);
        }
        // A write that was interrupted may have left a part of a packet.
        // SAFETY: plain system call on our file.
        unsafe { libc::ftruncate(self.descriptor, self.length as libc::off_t) };
        self.write(packets)
    }

    fn open(&mut self, folder: &Path, extra: libc::c_int) -> io::Result<()> {
        let path = CString::new(folder.join(self.part.name()).as_os_str().as_bytes())?;
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

fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    // SAFETY: an all-zero rlimit is valid, and getrlimit fills it.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(resource, &raw mut limit);
        limit.rlim_cur
    }
}

/// The most bytes a file may have; writing more raises a signal.
pub(crate) fn file_size_limit() -> u64 {
    limit(libc::RLIMIT_FSIZE)
}
