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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_in_the_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tail");
        let memory = map(Some(&file)).unwrap();
        assert_eq!(memory.len(), PACKET);
        assert!(memory.iter().all(|&byte| byte == 0));
        memory[..5].copy_from_slice(b"event");
        memory[PACKET - 1] = 7;
        let read = std::fs::read(&file).unwrap();
        assert_eq!((read.len(), &read[..5], read[PACKET - 1]), (PACKET, &b"event"[..], 7));
    }

    #[test]
    fn where_no_file_can_be_made_the_memory_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("tail");
        std::fs::write(&taken, b"another's").unwrap();
        for file in [Some(taken.as_path()), Some(Path::new("/nowhere/tail")), None] {
            let memory = map(file).unwrap();
            memory[0] = 1;
            assert_eq!(memory.len(), PACKET);
        }
        assert_eq!(std::fs::read(&taken).unwrap(), b"another's");
    }

    #[test]
    fn a_forked_child_has_no_part_in_it() {
        let memory = map(None).unwrap();
        let at = memory.as_mut_ptr();
        // SAFETY: the child only asks whether the page is mapped, and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let absent = libc::msync(at.cast(), PACKET, libc::MS_ASYNC) != 0;
                libc::_exit(i32::from(!absent));
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:x}");
        }
    }
}
