//! The entry by which `memtrail attach` begins to record a program that runs.

use std::ffi::{c_char, c_int};

/// Begins to record this process for the session in this folder. 0 if that is under way.
///
/// # Safety
/// `session` is a C string, `main_thread` the thread pointer of the main thread. The calling thread is neither in the dynamic
/// linker nor in `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memtrail_attach(session: *const c_char, main_thread: u64) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { memtrail_agent::attach(session, main_thread) }
}
