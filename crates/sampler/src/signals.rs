//! Keeps the program's signals away from threads of the sampler's own.

use std::mem::MaybeUninit;

/// Runs something with all signals blocked in this thread; threads that it starts have them blocked, too.
pub(crate) fn blocked<R>(run: impl FnOnce() -> R) -> R {
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
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    }
    result
}
