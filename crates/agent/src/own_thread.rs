//! Threads of ours in the target. They take no signals and run none of its code.

use std::ffi::c_void;

/// What such a thread does.
pub(crate) type Run = extern "C" fn(*mut c_void) -> *mut c_void;

/// Starts one with so many bytes of stack, as far as more threads are allowed.
pub(crate) fn start(stack: usize, run: Run) {
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
        libc::pthread_attr_setstacksize(&raw mut attributes, stack);
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        libc::pthread_create(&raw mut thread, &raw const attributes, run, std::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        libc::pthread_attr_destroy(&raw mut attributes);
    }
}
