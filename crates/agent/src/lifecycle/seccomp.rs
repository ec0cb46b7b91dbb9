//! A program forbids itself system calls (seccomp). If ours are among those that it would be ended for, its recording ends
//! before, with a note, and from then on this library does nothing any more.
//!
//! Calls that only fail are as others that fail. A filter holds in the thread that installs it, and in what this starts;
//! which thread runs our code is not known, so one filter ends all of it.

use std::ffi::c_void;

use memtrail_ocaml::memory::Memory as _;

use crate::context::checked_memory::CheckedMemory;
use crate::lifecycle::injected;
use crate::lifecycle::recorded::{follows_children, recorded};
use crate::os::clock::pause;
use crate::os::errno::keeping_errno;
use crate::os::seccomp::{Call, Instruction, is_fatal};
use crate::os::{ffi_guard, forked};

const NOTE: &str = "the program forbade itself system calls that recording needs (seccomp): nothing is recorded from there";
/// The most instructions of a filter (`BPF_MAXINSNS`).
const MAX_INSTRUCTIONS: u16 = 4096;
/// Bytes of an instruction.
const INSTRUCTION: u64 = 8;
/// How long a sample that is being written is waited for, in nanoseconds: a thousand times what it takes.
const UNDER_WAY: u32 = 10_000_000;
/// A descriptor as ours are.
const DESCRIPTOR: u64 = 1001;
/// Some address.
const POINTER: u64 = 0x7f00_0000_1000;

/// A forbidden call, as the program asks for it.
#[derive(Clone, Copy, Debug)]
pub enum Forbids {
    /// All but reading, writing and ending.
    Most,
    /// Those that a filter forbids, a `struct sock_fprog`.
    ByFilter(*const c_void),
    /// The same in all threads that there are.
    ByFilterInAllThreads(*const c_void),
}

/// The program is about to forbid itself system calls.
pub fn before_seccomp(forbids: Forbids) {
    // A child of `vfork` has its parent's memory.
    let is_vfork_child = || forked::is_owner() && !forked::is_owner_itself();
    if injected::injected().is_none() || ffi_guard::is_stopped() || is_vfork_child() {
        return;
    }
    let is_fatal_to = |calls: fn() -> Vec<Call>| {
        ffi_guard::guarded(false, || keeping_errno(|| forbids_one_of(forbids, &calls())))
    };
    if is_fatal_to(calls_of_ours) {
        if let Some(recorded) = recorded() {
            ffi_guard::guarded((), || keeping_errno(|| (recorded.end_with_note)(NOTE)));
        }
        ffi_guard::stop();
        if matches!(forbids, Forbids::ByFilterInAllThreads(_)) {
            // Another thread of the program's may be at work for us, but begins no more of it.
            keeping_errno(|| pause(UNDER_WAY));
        }
    } else if is_fatal_to(calls_of_last_snapshot)
        && let Some(recorded) = recorded()
    {
        ffi_guard::guarded((), || keeping_errno(recorded.give_up_last));
    }
}

fn forbids_one_of(forbids: Forbids, calls: &[Call]) -> bool {
    match forbids {
        Forbids::Most => true,
        // What is no filter is refused by the kernel.
        Forbids::ByFilter(filter) | Forbids::ByFilterInAllThreads(filter) => instructions(filter)
            .is_some_and(|filter| calls.iter().any(|call| is_fatal(&filter, call))),
    }
}

/// Reads a `struct sock_fprog`.
fn instructions(filter: *const c_void) -> Option<Vec<Instruction>> {
    let at = filter.addr() as u64;
    let count = u16::from_le_bytes(CheckedMemory.bytes(at)?).min(MAX_INSTRUCTIONS);
    let first = u64::from_le_bytes(CheckedMemory.bytes(at.checked_add(8)?)?);
    (0..u64::from(count))
        .map(|index| {
            let [c0, c1, if_true, if_false, k @ ..]: [u8; INSTRUCTION as usize] =
                CheckedMemory.bytes(first.checked_add(index * INSTRUCTION)?)?;
            let code = u16::from_le_bytes([c0, c1]);
            Some(Instruction { code, if_true, if_false, k: u32::from_le_bytes(k) })
        })
        .collect()
}

/// What this library calls while it records, and as the process ends, found by `strace`.
fn calls_of_ours() -> Vec<Call> {
    let folder = libc::AT_FDCWD as u64;
    let to_write = (libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC) as u64;
    let to_read = (libc::O_RDONLY | libc::O_CLOEXEC) as u64;
    let memory = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let private = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    let cpu_time = libc::CLOCK_THREAD_CPUTIME_ID as u64;
    let files = u64::from(libc::RLIMIT_FSIZE);
    let (wait, wake) = (libc::FUTEX_WAIT as u64, libc::FUTEX_WAKE as u64);
    let mut calls = vec![
        call(libc::SYS_write, [DESCRIPTOR, POINTER, 4096, 0, 0, 0]),
        call(libc::SYS_pwrite64, [DESCRIPTOR, POINTER, 4096, 0, 0, 0]),
        call(libc::SYS_openat, [folder, POINTER, to_write, 0o600, 0, 0]),
        call(libc::SYS_openat, [folder, POINTER, to_read, 0, 0, 0]),
        call(libc::SYS_read, [DESCRIPTOR, POINTER, 4096, 0, 0, 0]),
        call(libc::SYS_lseek, [DESCRIPTOR, 0, 0, 0, 0, 0]),
        call(libc::SYS_ftruncate, [DESCRIPTOR, 0, 0, 0, 0, 0]),
        call(
            libc::SYS_newfstatat,
            [DESCRIPTOR, POINTER, POINTER, libc::AT_EMPTY_PATH as u64, 0, 0],
        ),
        call(libc::SYS_statx, [DESCRIPTOR, POINTER, libc::AT_EMPTY_PATH as u64, 0xfff, POINTER, 0]),
        call(libc::SYS_fcntl, [DESCRIPTOR, libc::F_DUPFD_CLOEXEC as u64, 1000, 0, 0, 0]),
        call(libc::SYS_close, [DESCRIPTOR, 0, 0, 0, 0, 0]),
        call(libc::SYS_prlimit64, [0, files, 0, POINTER, 0, 0]),
        call(libc::SYS_mmap, [0, 1 << 16, memory, private, u64::MAX, 0]),
        // By libc's allocator, which the runtime calls for its sampler's tables.
        call(libc::SYS_brk, [POINTER, 0, 0, 0, 0, 0]),
        call(libc::SYS_mremap, [POINTER, 1 << 16, 1 << 17, libc::MREMAP_MAYMOVE as u64, 0, 0]),
        call(libc::SYS_mprotect, [POINTER, 4096, 0, 0, 0, 0]),
        call(libc::SYS_madvise, [POINTER, 1 << 16, libc::MADV_DONTNEED as u64, 0, 0, 0]),
        call(libc::SYS_munmap, [POINTER, 1 << 16, 0, 0, 0, 0]),
        call(libc::SYS_mincore, [POINTER, 4096, POINTER, 0, 0, 0]),
        // Reads the filters themselves, too.
        call(libc::SYS_process_vm_readv, [1, POINTER, 1, POINTER, 1, 0]),
        call(libc::SYS_futex, [POINTER, wait, 0, POINTER, 0, 0]),
        call(libc::SYS_futex, [POINTER, wake, 1, 0, 0, 0]),
        call(libc::SYS_rt_sigprocmask, [libc::SIG_BLOCK as u64, POINTER, POINTER, 8, 0, 0]),
        call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as u64, POINTER, POINTER, 8, 0, 0]),
        call(libc::SYS_getpid, [0; 6]),
        call(libc::SYS_gettid, [0; 6]),
        call(libc::SYS_clock_gettime, [cpu_time, POINTER, 0, 0, 0, 0]),
        call(libc::SYS_clock_nanosleep, [0, 0, POINTER, 0, 0, 0]),
    ];
    calls.push(call(libc::SYS_readlinkat, [folder, POINTER, POINTER, 4096, 0, 0]));
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        call(libc::SYS_rename, [POINTER, POINTER, 0, 0, 0, 0]),
        call(libc::SYS_readlink, [POINTER, POINTER, 4096, 0, 0, 0]),
        call(libc::SYS_unlink, [POINTER, 0, 0, 0, 0, 0]),
    ]);
    #[cfg(target_arch = "aarch64")]
    calls.extend([
        call(libc::SYS_renameat, [folder, POINTER, folder, POINTER, 0, 0]),
        call(libc::SYS_unlinkat, [folder, POINTER, 0, 0, 0, 0]),
    ]);
    if follows_children() {
        calls.push(call(libc::SYS_fallocate, [DESCRIPTOR, 0, 0, 1 << 16, 0, 0]));
        #[cfg(target_arch = "x86_64")]
        calls.push(call(libc::SYS_mkdir, [POINTER, 0o700, 0, 0, 0, 0]));
        #[cfg(target_arch = "aarch64")]
        calls.push(call(libc::SYS_mkdirat, [folder, POINTER, 0o700, 0, 0, 0]));
    }
    if recorded().is_some_and(|recorded| (recorded.takes_snapshots)()) {
        calls.extend(calls_of_snapshots());
    }
    calls
}

/// Calls of a snapshot, besides those of a recording.
fn calls_of_snapshots() -> Vec<Call> {
    vec![
        call(libc::SYS_clone, [0; 6]),
        call(libc::SYS_flock, [DESCRIPTOR, libc::LOCK_EX as u64, 0, 0, 0, 0]),
        call(libc::SYS_getdents64, [DESCRIPTOR, POINTER, 4096, 0, 0, 0]),
        call(libc::SYS_wait4, [1, POINTER, libc::WNOHANG as u64, 0, 0, 0]),
    ]
}

/// Calls of the last snapshot before a signal ends the program.
fn calls_of_last_snapshot() -> Vec<Call> {
    let mut calls = calls_of_snapshots();
    calls.extend([
        call(libc::SYS_timer_create, [1, POINTER, POINTER, 0, 0, 0]),
        call(libc::SYS_timer_settime, [0, 0, POINTER, 0, 0, 0]),
        call(libc::SYS_rt_sigaction, [libc::SIGTERM as u64, POINTER, 0, 8, 0, 0]),
        call(libc::SYS_kill, [1, libc::SIGTERM as u64, 0, 0, 0, 0]),
    ]);
    calls
}

fn call(number: i64, arguments: [u64; 6]) -> Call {
    Call { number: number as u32, arguments }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_where_they_are() {
        let mut filter = [
            libc::sock_filter { code: 0x20, jt: 1, jf: 2, k: 3 },
            libc::sock_filter { code: 6, jt: 0, jf: 0, k: 0x7fff_0000 },
        ];
        let program = libc::sock_fprog { len: 2, filter: filter.as_mut_ptr() };
        let expected = vec![
            Instruction { code: 0x20, if_true: 1, if_false: 2, k: 3 },
            Instruction { code: 6, if_true: 0, if_false: 0, k: 0x7fff_0000 },
        ];
        assert_eq!(instructions((&raw const program).cast()), Some(expected));
        let forbids = Forbids::ByFilter((&raw const program).cast());
        assert!(!forbids_one_of(forbids, &calls_of_ours()));
        let nowhere = libc::sock_fprog { len: 2, filter: std::ptr::without_provenance_mut(64) };
        assert_eq!(instructions((&raw const nowhere).cast()), None);
        assert_eq!(instructions(std::ptr::null()), None);
    }
}
