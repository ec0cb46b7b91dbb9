//! What a forked child needs: locks that its one thread can take.

use std::sync::OnceLock;

use crate::pending::PENDING;
use crate::table::TABLE;

/// What else the child does.
static IN_CHILD: OnceLock<fn()> = OnceLock::new();

/// Once for the process: at each fork the locks are taken before, and released in both processes, so
/// that what they protect is whole in the child. `in_child` is called there last.
pub(crate) fn prepare(in_child: fn()) {
    IN_CHILD.get_or_init(|| {
        // Without memory for it, a forked child may wait for ever; nothing else can be done.
        // SAFETY: the functions are there as long as the program: a library with a global allocator is
        // never unloaded.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(after)) };
        in_child
    });
}

unsafe extern "C" fn before() {
    PENDING.acquire();
    TABLE.acquire_all();
}

unsafe extern "C" fn in_parent() {
    // SAFETY: `before` took them in this thread, or in that of which it is the forked copy.
    unsafe {
        TABLE.release_all();
        PENDING.release();
    }
}

unsafe extern "C" fn after() {
    // SAFETY: as the caller's.
    unsafe { in_parent() };
    if let Some(in_child) = IN_CHILD.get() {
        in_child();
    }
}
