//! The end of the program's threads: known by a key of thread-specific data.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::os::tls;

/// One more than the key; 0 before there is one.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Lets `at_end` run as threads end that [`watch`] was called on, and watches this one.
pub(crate) fn prepare(at_end: extern "C" fn(*mut c_void)) {
    let mut key = 0;
    // SAFETY: a valid out-pointer and a destructor of the right type.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_end)) } == 0 {
        KEY.store(key + 1, Relaxed);
        watch();
    }
}

/// Arranges for the end of this thread to be known.
pub(crate) fn watch() {
    let key = KEY.load(Relaxed);
    if key != 0 {
        // SAFETY: the key exists; any pointer but null will do.
        unsafe { libc::pthread_setspecific(key - 1, tls::slots().cast()) };
    }
}
