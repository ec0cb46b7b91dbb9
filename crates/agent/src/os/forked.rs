//! Tells whether this process is a forked copy of the one that was set up.
//!
//! A page that the kernel clears in every child answers with one load, for `fork` by whatever
//! means; where the kernel does not offer it (before Linux 4.14) the process id is asked instead.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

use crate::os::ffi_guard::is_stopped;

/// The process that was set up.
struct Owner {
    /// Its number.
    pid: AtomicU32,
    /// Null where the kernel does not clear pages in children.
    page: AtomicPtr<u32>,
}

static OWNER: Owner = Owner { pid: AtomicU32::new(0), page: AtomicPtr::new(std::ptr::null_mut()) };
const PRESENT: u32 = 0x6d74_7261;

/// The number of this process.
pub(crate) fn pid() -> u32 {
    // SAFETY: cannot fail. The raw call, because libcs have been known to cache the answer.
    unsafe { libc::syscall(libc::SYS_getpid) as u32 }
}

/// Makes this process the one that [`is_owner`] knows.
pub(crate) fn take_ownership() {
    OWNER.pid.store(pid(), Relaxed);
    let mut page = OWNER.page.load(Relaxed);
    if page.is_null() {
        // SAFETY: a fresh private page; madvise on it affects nothing else.
        unsafe {
            let fresh = libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if fresh == libc::MAP_FAILED || libc::madvise(fresh, 4096, libc::MADV_WIPEONFORK) != 0 {
                return;
            }
            page = fresh.cast();
        }
        OWNER.page.store(page, Relaxed);
    }
    // SAFETY: the page is ours and stays mapped.
    unsafe { page.write_volatile(PRESENT) };
}

/// Whether this is the process that took ownership, not a fork of it.
#[inline]
pub(crate) fn is_owner() -> bool {
    let page = OWNER.page.load(Relaxed);
    if page.is_null() {
        return OWNER.pid.load(Relaxed) == pid();
    }
    // SAFETY: the page stays mapped; only `take_ownership` writes it.
    unsafe { page.read_volatile() == PRESENT }
}

/// Like [`is_owner`], but also false in a `vfork` child, which shares the owner's memory, and once all our work has
/// stopped: from then on the kernel may not be asked.
pub(crate) fn is_owner_itself() -> bool {
    !is_stopped() && OWNER.pid.load(Relaxed) == pid()
}

/// The process that owns the recording in memory.
pub(crate) fn owner() -> u32 {
    OWNER.pid.load(Relaxed)
}
