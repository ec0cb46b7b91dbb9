//! Addresses of functions behind this library's: definitions of the same name that come next. In a program that ran before this
//! library was loaded they are those that it calls.

use std::ffi::{CStr, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::scope;

/// The address of the definition after ours, or null if there is none.
pub(crate) fn next_definition(name: &CStr) -> *mut c_void {
    if !scope::is_preloaded() {
        return scope::definition(name);
    }
    // SAFETY: a C string; finds the definition after ours.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// What the address is of a definition that was looked for, and is not there.
const ABSENT: *mut c_void = without_provenance_mut(1);

/// A definition after ours. Without an address it has not been looked for.
pub(crate) struct Definition {
    pub(crate) name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Definition {
    pub(crate) const fn of(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(null_mut()) }
    }

    /// Its address, if it was looked for and is there; else that of no function.
    pub(crate) fn address(&self) -> *mut c_void {
        self.address.load(Relaxed)
    }

    /// Its address, if it was looked for and is there.
    pub(crate) fn known(&self) -> Option<*mut c_void> {
        Some(self.address()).filter(|address| address.addr() > ABSENT.addr())
    }

    /// Its address, or that of `otherwise` where there is none.
    #[inline]
    pub(crate) fn address_or(&self, otherwise: *mut c_void) -> *mut c_void {
        let known = self.address.load(Relaxed);
        if known.addr() > ABSENT.addr() { known } else { self.found_or(otherwise) }
    }

    #[cold]
    #[inline(never)]
    fn found_or(&self, otherwise: *mut c_void) -> *mut c_void {
        self.find();
        if self.address.load(Relaxed) == ABSENT {
            self.address.store(otherwise, Relaxed);
        }
        self.address.load(Relaxed)
    }

    /// Looks for it, unless that was done.
    pub(crate) fn find(&self) {
        if self.address.load(Relaxed).is_null() {
            let found = next_definition(self.name);
            self.address.store(if found.is_null() { ABSENT } else { found }, Relaxed);
        }
    }
}
