//! The ids of the process's threads, as the kernel lists them.
//!
//! The copy lists them by system calls: libc's `opendir` calls `malloc` and `free`, which are the program's, in a process
//! in which the table of sampled blocks, and maybe libc's heap, is locked.

use std::fs::File;
use std::os::fd::AsRawFd as _;

/// Bytes of entries that are read at a time.
const BUFFER: usize = 1 << 14;
/// Where in an entry its length is, and its name.
const LENGTH: usize = 16;
const NAME: usize = 19;

/// The ids of a process's threads, the main one's first.
pub(crate) fn ids(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let Ok(folder) = File::open(format!("/proc/{pid}/task")) else { return all };
    let mut buffer = vec![0_u8; BUFFER];
    loop {
        let (fd, room) = (folder.as_raw_fd(), buffer.len());
        // SAFETY: the kernel writes into the buffer, and no more than it has room for.
        let read = unsafe { libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), room) };
        let Some(entries) = usize::try_from(read).ok().and_then(|size| buffer.get(..size)) else {
            return all;
        };
        if entries.is_empty() {
            return all;
        }
        all.extend(numbers(entries));
    }
}

/// The names of entries that are numbers.
fn numbers(mut entries: &[u8]) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let length = entries.get(LENGTH..LENGTH + 2)?;
        let length = usize::from(u16::from_ne_bytes(length.try_into().ok()?));
        let entry = entries.get(..length).filter(|entry| entry.len() > NAME)?;
        entries = entries.get(length..)?;
        let name = entry.get(NAME..)?.split(|&byte| byte == 0).next()?;
        Some(std::str::from_utf8(name).ok().and_then(|name| name.parse().ok()))
    })
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ids_are_those_of_the_folder() {
        let stays = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| stays.wait());
            let pid = std::process::id();
            let ours = ids(pid);
            let own = fs::read_link("/proc/thread-self").unwrap();
            let own = own.file_name().unwrap().to_str().unwrap().parse().unwrap();
            assert_eq!(ours[0], pid);
            // Threads of other tests come and go: the main one, this one and the one that waits are there.
            assert!(ours.contains(&own) && ours.iter().filter(|id| **id != pid).count() >= 2);
            stays.wait();
        });
    }

    #[test]
    fn entries_that_make_no_sense_end_the_list() {
        let mut entry = vec![0_u8; 24];
        entry[LENGTH] = 24;
        entry[NAME..NAME + 2].copy_from_slice(b"71");
        let both = [&entry[..], &entry[..20]].concat();
        assert_eq!(numbers(&both).collect::<Vec<_>>(), [71]);
        entry[LENGTH] = 0;
        assert_eq!(numbers(&entry).count(), 0);
        assert_eq!(numbers(&[1; 10]).count(), 0);
    }
}
