//! How the program is called, and where its executable is.

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    static program_invocation_name: *const c_char;
    static program_invocation_short_name: *const c_char;
}

/// The name the program was called by, without its path.
pub(crate) fn program_name() -> String {
    // SAFETY: glibc sets it before any constructor runs.
    let name = unsafe { CStr::from_ptr(program_invocation_short_name) };
    name.to_string_lossy().into_owned()
}

/// The name the program was called by.
pub(crate) fn invocation_name() -> &'static [u8] {
    // SAFETY: glibc's variable; the C string lives as long as the process.
    unsafe {
        if program_invocation_name.is_null() {
            return b"";
        }
        CStr::from_ptr(program_invocation_name).to_bytes()
    }
}

/// Path of the executable.
pub(crate) fn executable() -> String {
    std::fs::read_link("/proc/self/exe")
        .map_or_else(|_| program_name(), |path| path.to_string_lossy().into_owned())
}
