//! Tells which thread of a stopped process may call the dynamic linker: one that is neither in the linker nor in `malloc`,
//! whose locks it would wait for itself.
//!
//! It waits in a system call that neither of them makes, or runs code of OCaml's compiler, which calls neither of them. In a
//! native program it may run the program's own code.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use memtrail_ocaml::Memory;
use memtrail_ocaml_snapshot::core_file::{Runtime, Thread};
use memtrail_recording::mappings::Mapping;

use super::program_code::{Files, is_in_program};

/// System calls that only wait: poll, select, nanosleep, accept, recvfrom, recvmsg, wait4, pause, `rt_sigtimedwait`,
/// `rt_sigsuspend`, `clock_nanosleep`, `epoll_wait`, waitid, pselect6, ppoll, `epoll_pwait`, accept4, recvmmsg, `epoll_pwait2`.
const WAITS: [u64; 19] =
    [7, 23, 35, 43, 45, 47, 61, 34, 128, 130, 230, 232, 247, 270, 271, 281, 288, 299, 441];
const READ: u64 = 0;
const FUTEX: u64 = 202;
const RESTART: u64 = 219;
/// Operation of `futex` by which libc waits for conditions and semaphores, and never for locks (`futex(2)`).
const WAIT_BITSET: u64 = 9;
const OPERATION: u64 = 0x7f;

/// The process, as far as it is known from one stop to the next.
pub(super) struct Search<'a> {
    pid: u32,
    /// OCaml's; a native program has none.
    runtime: Option<&'a Runtime<'a>>,
    /// System calls in which threads were found: after a stop, the kernel goes on with some under another number.
    calls: HashMap<(u32, u64), u64>,
    files: Files,
}

impl<'a> Search<'a> {
    pub(super) fn new(pid: u32, runtime: Option<&'a Runtime<'a>>) -> Self {
        Self { pid, runtime, calls: HashMap::new(), files: Files::new() }
    }

    /// A thread that may call the dynamic linker, if there is one.
    pub(super) fn find(
        &mut self,
        memory: &impl Memory,
        mappings: &[u8],
        threads: &[Thread],
    ) -> Option<u32> {
        let is_waiting = |search: &mut Self, thread: &Thread| search.waits(thread, mappings);
        if let Some(thread) = threads.iter().find(|thread| is_waiting(self, thread)) {
            return Some(thread.id);
        }
        let (process, files) = ((self.pid, mappings), &mut self.files);
        let mut is_free = |thread: &&Thread| match self.runtime {
            Some(runtime) => thread.system_call().is_none() && runtime.is_in_ocaml(memory, thread),
            None => is_in_program(memory, process, thread, files),
        };
        threads.iter().find(|thread| is_free(thread)).map(|thread| thread.id)
    }

    fn waits(&mut self, thread: &Thread, mappings: &[u8]) -> bool {
        let Some(call) = thread.system_call() else { return false };
        let place = (thread.id, thread.instruction());
        let call = if call == RESTART {
            self.calls.get(&place).copied().unwrap_or(RESTART)
        } else {
            self.calls.insert(place, call);
            call
        };
        let is_wait = match call {
            READ => self.reads_slowly(thread.argument(0)),
            FUTEX => thread.argument(1) & OPERATION == WAIT_BITSET,
            call => WAITS.contains(&call),
        };
        is_wait && !is_linker(mappings, thread.instruction())
    }

    /// True if a descriptor is of a pipe, a socket or a terminal: libraries read files while they hold locks.
    fn reads_slowly(&self, descriptor: u64) -> bool {
        let path = format!("/proc/{}/fd/{descriptor}", self.pid);
        let kind = fs::metadata(&path).map(|metadata| metadata.file_type());
        if kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket()) {
            return true;
        }
        let link = fs::read_link(&path).unwrap_or_default();
        ["anon_inode:", "/dev/pts/", "/dev/tty", "/dev/console"]
            .iter()
            .any(|kind| link.as_os_str().as_encoded_bytes().starts_with(kind.as_bytes()))
    }
}

/// True if an address is in the dynamic linker's own code.
fn is_linker(mappings: &[u8], address: u64) -> bool {
    let lines = mappings.split(|&byte| byte == b'\n').filter_map(Mapping::parse);
    let mut at = lines.filter(|mapping| mapping.addresses.contains(&address));
    at.any(|mapping| {
        let name = mapping.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        name.starts_with(b"ld-") || name.starts_with(b"ld.so")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_the_linker_is_told_by_its_file() {
        let mappings =
            b"7f00-7f80 r-xp 00001000 08:02 17 /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\n\
            8000-8100 r-xp 00001000 08:02 18 /lib/x86_64-linux-gnu/libc.so.6\n";
        assert!(is_linker(mappings, 0x7f10));
        assert!(!is_linker(mappings, 0x8010));
        assert!(!is_linker(mappings, 0x9000));
    }
}
