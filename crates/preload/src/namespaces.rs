//! Stands before libc's functions that move the process to another namespace.

use std::ffi::{c_int, c_long};

use memtrail_agent::namespaces::without_own_threads;

/// What the kernel does only for a process with one thread.
const FOR_ONE_THREAD: c_int =
    libc::CLONE_NEWUSER | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_VM;

/// Calls libc's `syscall`, which gives the same results as its functions for these two calls.
fn call(number: c_long, first: c_int, second: c_int) -> c_int {
    // SAFETY: the caller's arguments, of which the kernel checks all.
    unsafe { libc::syscall(number, first, second) as c_int }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unshare(flags: c_int) -> c_int {
    let unshares = || call(libc::SYS_unshare, flags, 0);
    if flags & FOR_ONE_THREAD == 0 { unshares() } else { without_own_threads(unshares) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setns(descriptor: c_int, kind: c_int) -> c_int {
    without_own_threads(|| call(libc::SYS_setns, descriptor, kind))
}
