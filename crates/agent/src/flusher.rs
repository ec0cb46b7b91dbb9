//! The thread that brings what was sampled to the file, twice a second.
//!
//! It takes no signals, runs none of the target's code and holds a stream's lock only while it
//! copies one packet.

use std::ffi::c_void;

/// Twice a second, so that the file is never a second behind.
static PERIOD: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 400_000_000 };
const STACK: usize = 128 * 1024;

/// Starts the thread. Without it (no more threads allowed) packets still go out as they fill.
pub(crate) fn start() {
    // SAFETY: every call gets valid arguments; the signal mask is put back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        let mut thread: libc::pthread_t = 0;
        if libc::pthread_attr_init(&raw mut attributes) != 0 {
            return;
        }
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_attr_setstacksize(&raw mut attributes, STACK);
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        libc::pthread_create(&raw mut thread, &raw const attributes, run, std::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        libc::pthread_attr_destroy(&raw mut attributes);
    }
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
