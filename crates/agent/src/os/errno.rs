//! The program's `errno`: system calls of ours leave it as it was.

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
