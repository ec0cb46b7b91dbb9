//! The two environment variables by which a launcher reaches its target, and their removal.
//!
//! A program that prints its environment, or hands it on, must not see that it is recorded.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use memtrail_recording::session::SESSION_VARIABLE;

const PRELOAD: &CStr = c"LD_PRELOAD";
/// Set by the launcher to what `LD_PRELOAD` was before, if it was set.
const PRELOAD_BEFORE: &CStr = c"MEMTRAIL_LD_PRELOAD";

/// The variables as the launcher set them, ready to be handed to a program we follow into.
pub(crate) struct Injected {
    /// The session folder.
    pub(crate) session: PathBuf,
    assignments: Vec<CString>,
}

fn get(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: called before the target runs; the value is used before anything can change it.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

fn session_variable() -> CString {
    CString::new(SESSION_VARIABLE).unwrap_or_default()
}

impl Injected {
    /// What the launcher set, if this process was started by one.
    pub(crate) fn find() -> Option<Self> {
        let session = get(&session_variable())?;
        let mut assignments = Vec::new();
        for name in [&*session_variable(), PRELOAD, PRELOAD_BEFORE] {
            if let Some(value) = get(name) {
                let text = [name.to_bytes(), b"=", value.to_bytes()].concat();
                assignments.push(CString::new(text).ok()?);
            }
        }
        Some(Self { session: PathBuf::from(OsStr::from_bytes(session.to_bytes())), assignments })
    }

    /// Makes the environment what it would be without us.
    pub(crate) fn remove() {
        // SAFETY: runs in a constructor, before the target can look or has a second thread.
        unsafe {
            match get(PRELOAD_BEFORE) {
                Some(before) => libc::setenv(PRELOAD.as_ptr(), before.as_ptr(), 1),
                None => libc::unsetenv(PRELOAD.as_ptr()),
            };
            libc::unsetenv(PRELOAD_BEFORE.as_ptr());
            libc::unsetenv(session_variable().as_ptr());
        }
    }

    /// `environment` with the launcher's variables put back, as an array for `execve`.
    ///
    /// # Safety
    /// `environment` is a null-terminated array of strings (or null).
    pub(crate) unsafe fn put_back(
        &self,
        environment: *const *const libc::c_char,
    ) -> Vec<*const libc::c_char> {
        let mut all: Vec<_> = self.assignments.iter().map(|a| a.as_ptr()).collect();
        let mut next = environment;
        // SAFETY: as the caller promises.
        unsafe {
            while !next.is_null() && !(*next).is_null() {
                let entry = CStr::from_ptr(*next).to_bytes();
                if !self.assignments.iter().any(|a| same_name(a.to_bytes(), entry)) {
                    all.push(*next);
                }
                next = next.add(1);
            }
        }
        all.push(std::ptr::null());
        all
    }
}

fn same_name(a: &[u8], b: &[u8]) -> bool {
    let name = |s: &[u8]| s.iter().position(|&c| c == b'=').unwrap_or(s.len());
    a[..name(a)] == b[..name(b)]
}
