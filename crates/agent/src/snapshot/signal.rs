//! A signal that asks for a snapshot, where the program makes no use of it.
//!
//! A program that installs a handler of its own replaces ours; one that was started with the signal
//! ignored keeps it ignored. In a forked child the signal does what it would do without us.

use std::ffi::c_int;

use memtrail_recording::SnapshotReason;

use super::request;
use crate::os::errno::keeping_errno;
use crate::os::forked;

/// Lets the signal ask, unless it is not at its default.
pub(super) fn install(number: c_int) {
    // SAFETY: all-zero structures are valid; the handler makes only calls that handlers may make.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(number, std::ptr::null(), &raw mut now) != 0
            || now.sa_sigaction != libc::SIG_DFL
        {
            return;
        }
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = arrived as extern "C" fn(c_int) as usize;
        ours.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigfillset(&raw mut ours.sa_mask);
        libc::sigaction(number, &raw const ours, std::ptr::null_mut());
    }
}

extern "C" fn arrived(number: c_int) {
    keeping_errno(|| {
        if forked::is_owner_itself() {
            request::add(SnapshotReason::Signal);
            return;
        }
        // SAFETY: the default is restored, and the signal comes again when this handler ends.
        unsafe {
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(number, &raw const default, std::ptr::null_mut());
            libc::raise(number);
        }
    });
}
