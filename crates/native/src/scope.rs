//! Definitions that the program calls without this library. They come behind this library's, or before them if it was loaded while
//! the program ran.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use memtrail_agent::native::file_names;

use crate::place;

/// A function of this library that no executable has.
const OWN: &CStr = c"free_aligned_sized";

const UNKNOWN: u8 = 0;
const PRELOADED: u8 = 1;
const LATE: u8 = 2;

static LOADED: AtomicU8 = AtomicU8::new(UNKNOWN);

/// True if the program finds this library's functions before others, as it was loaded with the program.
pub(crate) fn is_preloaded() -> bool {
    if LOADED.load(Relaxed) == UNKNOWN {
        let is_first = is_found_first() || is_in_scope();
        LOADED.store(if is_first { PRELOADED } else { LATE }, Relaxed);
    }
    LOADED.load(Relaxed) == PRELOADED
}

/// Usual in a program that it was loaded with. In the others its scope is looked at, for which the linker allocates.
fn is_found_first() -> bool {
    // SAFETY: a C string.
    let malloc = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    place::is_ours(malloc)
}

fn is_in_scope() -> bool {
    // SAFETY: gives the program itself, of which no file is read; a C string.
    unsafe {
        let program = libc::dlopen(null(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if program.is_null() {
            return true;
        }
        let found = libc::dlsym(program, OWN.as_ptr());
        libc::dlclose(program);
        place::is_ours(found)
    }
}

/// The address of this library's function with a name. In a library that was loaded late, the linker gives that of the program's
/// for each mention of the name.
pub(crate) fn own(name: &CStr) -> Option<*mut c_void> {
    let here = place::file_of(own as fn(_) -> _ as *const c_void);
    // SAFETY: C strings. Nothing is loaded, and this library is never unloaded.
    unsafe {
        let library = libc::dlopen(here.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, name.as_ptr());
        libc::dlclose(library);
        Some(found).filter(|&found| place::is_ours(found))
    }
}

/// The definition that the program calls of a function of its libraries: that of the first library which has one. Null if none
/// has.
///
/// The linker's own search may give a jump in the executable, which leads to this library in the end.
pub(crate) fn definition(name: &CStr) -> *mut c_void {
    let found = file_names().into_iter().find_map(|file| defined_in(&file, name));
    found.unwrap_or(null_mut())
}

/// True if the program calls this definition by its name: no other one comes before it.
pub(crate) fn is_called(name: &CStr, definition: *const c_void) -> bool {
    // SAFETY: a C string.
    let called = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    called.cast_const() == definition || place::is_imported(called)
}

/// The definition in a library that is loaded; not one in what it is linked with, and not this library's.
fn defined_in(file: &CStr, name: &CStr) -> Option<*mut c_void> {
    if file.is_empty() {
        return None;
    }
    // SAFETY: C strings. Nothing is loaded.
    unsafe {
        let library = libc::dlopen(file.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, name.as_ptr());
        libc::dlclose(library);
        let is_its_own = !found.is_null() && place::file_of(found) == file;
        (is_its_own && !place::is_ours(found)).then_some(found)
    }
}
