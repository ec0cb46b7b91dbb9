//! The thread that brings what was sampled to the file, twice a second.
//!
//! It takes no signals, runs none of the target's code and holds a stream's lock only while it
//! copies one packet.

use std::ffi::c_void;

use crate::own_thread;

/// Twice a second, so that the file is never a second behind.
static PERIOD: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 400_000_000 };
const STACK: usize = 128 * 1024;

/// Starts the thread. Without it (no more threads allowed) packets still go out as they fill.
pub(crate) fn start() {
    own_thread::start(STACK, run);
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    // SAFETY: a C string; names only this thread.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"memtrail".as_ptr()) };
    loop {
        // SAFETY: a valid duration, no remainder wanted.
        unsafe { libc::nanosleep(&raw const PERIOD, std::ptr::null_mut()) };
        if !crate::recorder::flush_periodically() {
            return std::ptr::null_mut();
        }
    }
}
