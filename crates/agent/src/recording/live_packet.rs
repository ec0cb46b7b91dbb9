//! Memory for the packet that a domain is filling: shared with the launcher's session.
//!
//! Its first bytes are a whole packet at every instant, so what was sampled survives any death of
//! the target: the launcher appends it to the trace.

use std::path::Path;

use crate::os::shared_memory;

/// As large as memtrace's readers accept.
pub(crate) const PACKET: usize = 32 * 1024;

/// Maps a packet's memory in the session, or private memory where that is not possible.
pub(crate) fn map(file: Option<&Path>) -> Option<&'static mut [u8]> {
    let shared = file.and_then(|file| shared_memory::map(file, PACKET));
    shared.or_else(|| shared_memory::private(PACKET))
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
