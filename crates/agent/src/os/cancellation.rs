//! Threads are not cancelled while they run our code: what it calls are cancellation points, as `write`, and an unwinding
//! through it would end the program. `malloc` is none, so a program may cancel a thread that is about to call it.

use std::ffi::c_int;
use std::ptr::null_mut;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_DISABLE` (`pthread.h`).
const DISABLED: c_int = 1;

/// Runs something in which this thread is not cancelled. A cancellation that comes meanwhile is for the next cancellation
/// point of the program's.
#[inline]
pub(crate) fn without_cancellation<R>(run: impl FnOnce() -> R) -> R {
    let mut before = 0;
    // SAFETY: concerns this thread alone.
    unsafe { pthread_setcancelstate(DISABLED, &raw mut before) };
    let result = run();
    // SAFETY: as above.
    unsafe { pthread_setcancelstate(before, null_mut()) };
    result
}
