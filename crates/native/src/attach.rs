//! The entry by which `memtrail attach --native` begins to record a program that runs.

use std::ffi::{c_char, c_int};

use memtrail_agent::native::{Imports, attach};

use crate::imports;

static IMPORTS: Imports = Imports { find: imports::find, replace: imports::replace };

/// Begins to record this process for the session in this folder. 0 if that is under way.
///
/// # Safety
/// `session` is a C string. The calling thread is neither in the dynamic linker nor in `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memtrail_attach(session: *const c_char, main_thread: u64) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { attach(session, main_thread, &IMPORTS) }
}
