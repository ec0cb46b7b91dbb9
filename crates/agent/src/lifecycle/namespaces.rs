//! A program moves to another namespace. The kernel lets a process with one thread alone do that to most of them, so
//! threads of ours end before, and begin again after it.

use std::ffi::c_int;

use crate::lifecycle::recorded::recorded;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;

/// Makes a call of the program's for which the process must have no threads but its own.
pub fn without_own_threads(call: impl FnOnce() -> c_int) -> c_int {
    let ended =
        guarded(false, || keeping_errno(|| recorded().is_some() && own_thread::pause_ours()));
    let result = call();
    if ended {
        guarded((), || keeping_errno(own_thread::start_again));
    }
    result
}
