//! The trace file: whole packets are appended, from whichever thread has one ready.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Descriptors below this stay the target's; the limit on open files may force a lower one.
const RESERVED_FROM: libc::c_int = 1000;

/// An append-only file that notices when the target closed or reused its descriptor.
pub(crate) struct Output {
    path: CString,
    descriptor: libc::c_int,
    device: u64,
    inode: u64,
    /// Length of the file: whole packets only.
    length: u64,
    /// Set when a write failed; nothing is written any more.
    failed: Option<i32>,
}

impl Output {
    /// Creates the file; it must not exist.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let mut output =
            Self { path, descriptor: -1, device: 0, inode: 0, length: 0, failed: None };
        output.open(libc::O_CREAT | libc::O_EXCL)?;
        let status = output.status().ok_or_else(io::Error::last_os_error)?;
        (output.device, output.inode) = (status.st_dev, status.st_ino);
        Ok(output)
    }

    /// Bytes written.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The error that ended writing, if one did.
    pub(crate) fn failure(&self) -> Option<i32> {
        self.failed
    }

    /// Appends whole packets. After a failure the file ends with the last whole one.
    pub(crate) fn append(&mut self, packets: &[u8]) {
        if self.failed.is_some() || packets.is_empty() {
            return;
        }
        if !self.is_ours() && self.open(0).is_err() {
            self.failed = Some(libc::EBADF);
            return;
        }
        if file_size_limit() < self.length + packets.len() as u64 {
            // The write would kill the target with SIGXFSZ.
            self.failed = Some(libc::EFBIG);
            return;
        }
        let mut rest = packets;
        while !rest.is_empty() {
            // SAFETY: the buffer is valid for its length.
            let written = unsafe { libc::write(self.descriptor, rest.as_ptr().cast(), rest.len()) };
            match written {
                n if n > 0 => rest = rest.get(n as usize..).unwrap_or_default(),
                _ => {
                    let error = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
                    if error == libc::EINTR {
                        continue;
                    }
                    self.failed = Some(error);
                    // SAFETY: plain system call.
                    unsafe { libc::ftruncate(self.descriptor, self.length as libc::off_t) };
                    return;
                }
            }
        }
        self.length += packets.len() as u64;
    }

    fn open(&mut self, extra: libc::c_int) -> io::Result<()> {
        // SAFETY: the path is a C string; descriptors are checked.
        unsafe {
            let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC | libc::O_NOFOLLOW;
            let low = libc::open(self.path.as_ptr(), flags | extra, 0o600);
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
        self.status().is_some_and(|s| s.st_dev == self.device && s.st_ino == self.inode)
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
