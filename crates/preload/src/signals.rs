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

/// libc's of this name is made of its own `sigaction`, which does not come here.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    // SAFETY: all-zero structures are valid; a signal that is not one is refused before it is added to the set.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) =
            (std::mem::zeroed(), std::mem::zeroed());
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut new.sa_mask);
        if handler == libc::SIG_ERR || libc::sigaddset(&raw mut new.sa_mask, number) != 0 {
            *libc::__errno_location() = libc::EINVAL;
            return libc::SIG_ERR;
        }
        if deadly_signal::sigaction(number, &raw const new, &raw mut old) != 0 {
            return libc::SIG_ERR;
        }
        old.sa_sigaction
    }
}
