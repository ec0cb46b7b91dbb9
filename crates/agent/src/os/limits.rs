//! Resource limits of the process (`getrlimit(2)`).

/// The soft limit on a resource.
pub(crate) fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    // SAFETY: an all-zero rlimit is valid, and getrlimit fills it.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(resource, &raw mut limit);
        limit.rlim_cur
    }
}

/// The most bytes a file may have; writing more raises a signal.
pub(crate) fn file_size_limit() -> u64 {
    limit(libc::RLIMIT_FSIZE)
}
