//! Memory that outlives the process: the pages of a file.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::os::limits::file_size_limit;

/// Makes a file of so many bytes and maps it, or does nothing. Forked children do not have it.
pub(crate) fn map(file: &Path, bytes: usize) -> Option<&'static mut [u8]> {
    if file_size_limit() < bytes as u64 {
        // Setting room aside beyond the limit on file sizes would kill the target with SIGXFSZ.
        return None;
    }
    let file = CString::new(file.as_os_str().as_bytes()).ok()?;
    // SAFETY: a C string; the descriptor is closed again; a fresh mapping overlaps nothing.
    unsafe {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let descriptor = libc::open(file.as_ptr(), flags, 0o600);
        if descriptor < 0 {
            return None;
        }
        // Without room set aside, a full disk would be a SIGBUS for the target.
        let room = libc::posix_fallocate(descriptor, 0, bytes as libc::off_t) == 0;
        let memory = if room { mapped(bytes, libc::MAP_SHARED, descriptor) } else { None };
        libc::close(descriptor);
        if memory.is_none() {
            libc::unlink(file.as_ptr());
        }
        memory
    }
}

/// Memory of this process alone. Forked children do not have it.
pub(crate) fn private(bytes: usize) -> Option<&'static mut [u8]> {
    // SAFETY: a fresh private mapping.
    unsafe { mapped(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1) }
}

/// # Safety
/// `descriptor` names a file of at least so many bytes, or is -1 for an anonymous mapping.
unsafe fn mapped(bytes: usize, flags: i32, descriptor: i32) -> Option<&'static mut [u8]> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses the place.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, descriptor, 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    // A child must not write into its parent's packet.
    // SAFETY: the mapping is ours.
    unsafe { libc::madvise(memory, bytes, libc::MADV_DONTFORK) };
    // SAFETY: mapped for as long as the process lives, and handed out once.
    Some(unsafe { std::slice::from_raw_parts_mut(memory.cast(), bytes) })
}
