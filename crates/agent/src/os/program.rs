//! How the program is called, and where its executable is.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

unsafe extern "C" {
    static program_invocation_name: *const c_char;
    static program_invocation_short_name: *const c_char;
}

/// As the process began, or the program that it became.
static NAME: OnceLock<String> = OnceLock::new();

/// Keeps the program's name: servers write what they do over their arguments, where the name is.
///
/// # Safety
/// The program's own code has not run.
pub(crate) unsafe fn remember_name() {
    NAME.get_or_init(|| {
        // SAFETY: glibc sets it before any constructor runs.
        let name = unsafe { CStr::from_ptr(program_invocation_short_name) };
        name.to_string_lossy().into_owned()
    });
}

/// The name the program was called by, without its path; none before [`remember_name`].
pub(crate) fn program_name() -> String {
    NAME.get().cloned().unwrap_or_default()
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
