//! Exported symbols of the process, found by the dynamic linker.

use std::ffi::{CString, c_void};

/// Address of an exported symbol, or null.
pub(crate) fn symbol(name: &str) -> *mut c_void {
    let Ok(name) = CString::new(name) else { return std::ptr::null_mut() };
    // SAFETY: a C string; looks through the objects loaded at start-up.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Address of an exported symbol; its name is the error if there is none.
pub(crate) fn required(name: &'static str) -> Result<*mut c_void, &'static str> {
    let address = symbol(name);
    if address.is_null() { Err(name) } else { Ok(address) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_found_by_name() {
        assert!(!symbol("readlink").is_null());
        assert!(symbol("caml_no_such_function").is_null());
        assert!(symbol("nul\0inside").is_null());
        assert_eq!(required("caml_no_such_function"), Err("caml_no_such_function"));
    }
}
