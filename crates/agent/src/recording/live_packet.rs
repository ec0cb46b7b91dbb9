//! Memory for the packet that a domain is filling: shared with the launcher's session.
//!
//! Its first bytes are a whole packet at every instant, so what was sampled survives any death of
//! the target: the launcher appends it to the trace.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::os::limits::file_size_limit;

/// As large as memtrace's readers accept.
pub(crate) const PACKET: usize = 32 * 1024;

/// Maps a packet's memory in the session, or private memory where that is not possible.
pub(crate) fn map(file: Option<&Path>) -> Option<&'static mut [u8]> {
    // Setting room aside beyond the limit on file sizes would kill the target with SIGXFSZ.
    let allowed = file_size_limit() >= PACKET as u64;
    let shared = file.filter(|_| allowed).and_then(|file| {
        let file = CString::new(file.as_os_str().as_bytes()).ok()?;
        // SAFETY: a C string; the descriptor is closed again; a fresh mapping overlaps nothing.
        unsafe {
            let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
            let descriptor = libc::open(file.as_ptr(), flags, 0o600);
            if descriptor < 0 {
                return None;
            }
            // Without room set aside, a full disk would be a SIGBUS for the target.
            let room = libc::posix_fallocate(descriptor, 0, PACKET as libc::off_t) == 0;
            let memory = if room { mapped(libc::MAP_SHARED, descriptor) } else { None };
            libc::close(descriptor);
            memory
        }
    });
    // SAFETY: a fresh private mapping.
    let memory =
        shared.or_else(|| unsafe { mapped(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1) })?;
    // SAFETY: mapped for as long as the process lives, and handed out once.
    Some(unsafe { std::slice::from_raw_parts_mut(memory, PACKET) })
}

/// # Safety
/// `descriptor` names a file of at least a packet's length, or -1 for an anonymous mapping.
unsafe fn mapped(flags: i32, descriptor: i32) -> Option<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses the place.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), PACKET, access, flags, descriptor, 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    // A child must not write into its parent's packet.
    // SAFETY: the mapping is ours.
    unsafe { libc::madvise(memory, PACKET, libc::MADV_DONTFORK) };
    Some(memory.cast())
}
