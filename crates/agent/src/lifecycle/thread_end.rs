//! What happens as threads of the program end.

use std::ffi::c_void;

use crate::lifecycle::environment_array;
use crate::os::errno::keeping_errno;
use crate::os::{ffi_guard, own_thread, private_stack, thread_exit};
use crate::recording::memory_thread;
use crate::recording::notes::note;
use crate::{sampling, snapshot};

const NOTE: &str = "its main thread ended before others: from then on the trace is written, and snapshots \
    are taken, only as the program allocates";

/// Arranges for the state of threads that end to be freed, and for the end of this one, the main
/// thread, to be known.
pub(crate) fn prepare() {
    thread_exit::prepare(ends);
    own_thread::prepare(wake);
}

/// Wakes threads of ours that sleep, to end.
fn wake() {
    snapshot::lifecycle::wake();
    memory_thread::wake();
}

/// Has threads of ours end.
pub(crate) fn end_ours() {
    own_thread::end_ours(own_thread::LONG_PATIENCE);
}

/// Tells threads of ours to end.
pub(crate) fn notify_ours() {
    own_thread::end_ours(0);
}

/// A thread of the program is about to end by the system call alone, without libc's part of a thread's end.
pub fn exits_alone() {
    if !ffi_guard::is_stopped() {
        own_thread::one_of_theirs_ends();
    }
}

/// Runs as a thread ends.
extern "C" fn ends(_: *mut c_void) {
    if ffi_guard::is_stopped() {
        return;
    }
    // SAFETY: the thread runs none of our code but this.
    unsafe {
        sampling::thread::free();
        environment_array::free();
    }
    if own_thread::one_of_theirs_ends() {
        keeping_errno(|| ffi_guard::guarded((), || note(NOTE.into())));
    }
    private_stack::release();
}
