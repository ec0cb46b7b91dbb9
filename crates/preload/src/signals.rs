//! Stands before libc's functions that tell what a signal does, and set it: a handler of ours is not to be seen there.

use std::ffi::c_int;

use memtrail_agent::deadly_signal;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    number: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { deadly_signal::sigaction(number, new, old) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    // SAFETY: as the caller promises.
    unsafe { deadly_signal::signal(number, handler) }
}
