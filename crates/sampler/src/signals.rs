//! Keeps the program's signals away for a moment.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Runs something with all signals blocked in this thread; threads that it starts have them blocked, too.
///
/// For what is short and waits for no lock of the program's: others may wait for this thread's answer to a signal.
#[cfg_attr(
    not(feature = "preloaded"),
    expect(unreachable_pub, reason = "then it is for this crate alone")
)]
pub fn without_signals<R>(run: impl FnOnce() -> R) -> R {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are initialised by the first call that gets them.
    let changed = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) == 0
    };
    let result = run();
    if changed {
        // SAFETY: `before` was initialised by the call that succeeded.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut()) };
    }
    result
}
