//! What threads that wait in a system call have passed to the kernel: it may be in registers alone, as the buffer that a thread
//! reads into.
//!
//! The kernel tells of other threads than the copy's one only in the process itself, without stopping or interrupting
//! them. Their other registers it tells of a stopped thread alone.

use super::thread_ids::ids;

/// A thread that waits, and the arguments of its system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(super) thread: u32,
    pub(super) arguments: [u64; 6],
}

/// The threads of this process that wait at this moment.
pub(super) fn waiting() -> Vec<Waiting> {
    let all = ids(std::process::id()).into_iter();
    let waiting = all.filter_map(|thread| {
        // A thread that has ended meanwhile has no file; old kernels have none at all.
        let text = std::fs::read(format!("/proc/self/task/{thread}/syscall")).ok()?;
        Some(Waiting { thread, arguments: arguments(&text)? })
    });
    waiting.collect()
}

/// The arguments in such a file: `0 0x3 0x7f0a10 0x1000 0x0 0x0 0x0 0x7ffd08 0x7f52c1`. It says `running` of a thread that
/// does not wait, and has no arguments of one that waits for something else, as for a page.
fn arguments(text: &[u8]) -> Option<[u64; 6]> {
    let text = std::str::from_utf8(text).ok()?;
    let mut numbers = text.split_ascii_whitespace().skip(1);
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(numbers.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;
    use std::os::fd::FromRawFd as _;

    use super::*;

    #[test]
    fn arguments_are_those_of_the_file() {
        let text = b"0 0x3 0x7f0a10 0x1000 0x0 0x1 0x2 0x7ffd08 0x7f52c1\n";
        assert_eq!(arguments(text), Some([3, 0x7f_0a10, 0x1000, 0, 1, 2]));
        for text in ["running\n", "-1 0x7ffd08 0x7f52c1\n", "", "0 3 4 5 6 7 8\n"] {
            assert_eq!(arguments(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_thread_that_reads_waits_for_its_buffer() {
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors, of which each is closed by the file that it is made.
        let (mut from, to) = unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
        };
        let mut buffer = vec![0_u8; 64];
        let address = buffer.as_ptr().addr() as u64;
        std::thread::scope(|scope| {
            scope.spawn(move || from.read(&mut buffer));
            let is_there = || waiting().iter().any(|thread| thread.arguments[1] == address);
            let begun = std::time::Instant::now();
            while !is_there() {
                assert!(begun.elapsed().as_secs() < 60, "it does not wait");
                std::thread::yield_now();
            }
            drop(to);
        });
    }
}
