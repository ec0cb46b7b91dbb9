//! The border between the target and this library: no panic and no `errno` gets across.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static BROKEN: AtomicBool = AtomicBool::new(false);

/// Silences Rust's panic message: it would go to the target's stderr.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Runs `work`; should it panic, all further calls return `otherwise` at once.
#[inline]
pub(crate) fn fenced<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    if BROKEN.load(Relaxed) {
        return otherwise;
    }
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        BROKEN.store(true, Relaxed);
        otherwise
    })
}

/// Runs `work`, which makes system calls, and leaves `errno` as it was.
pub(crate) fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: always a valid pointer to this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let kept = unsafe { *errno };
    let result = work();
    // SAFETY: as above.
    unsafe { *errno = kept };
    result
}
