//! Definitions of libraries that were loaded while the program ran, which come after none of this library's.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use crate::place;

/// C++'s libraries: a program that throws through several of them has these.
const USUAL: [&CStr; 3] = [c"libstdc++.so.6", c"libc++.so.1", c"libc++abi.so.1"];
/// Objects that are looked at, at most.
const OBJECTS: usize = 256;

/// The address of a definition: of C++'s library, or else of any library, which may have C++'s inside. Null if there is none.
pub(crate) fn definition(name: &CStr) -> *mut c_void {
    if let Some(found) = USUAL.into_iter().find_map(|library| defined_in(library.as_ptr(), name)) {
        return found;
    }
    let mut objects = Objects { names: [null(); OBJECTS], count: 0 };
    // SAFETY: `add` gets the objects.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut objects).cast()) };
    let mut all = objects.names.iter().take(objects.count);
    all.find_map(|&library| defined_in(library, name)).unwrap_or(null_mut())
}

/// The names of the objects that are loaded.
struct Objects {
    names: [*const c_char; OBJECTS],
    count: usize,
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, objects: *mut c_void) -> c_int {
    // SAFETY: glibc passes a valid description; the data is what `definition` passes.
    unsafe {
        let objects = &mut *objects.cast::<Objects>();
        let name = (*info).dlpi_name;
        // The executable has no name, and would have come first.
        if !name.is_null() && *name != 0 {
            let Some(place) = objects.names.get_mut(objects.count) else { return 1 };
            *place = name;
            objects.count += 1;
        }
    }
    0
}

/// A definition in a library that is loaded, or in what it is linked with; not this library's.
fn defined_in(library: *const c_char, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: C strings. Nothing is loaded; the library is not unloaded meanwhile, as the program is in a function that
    // it calls.
    unsafe {
        let library = libc::dlopen(library, libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, name.as_ptr());
        libc::dlclose(library);
        (!found.is_null() && !place::is_ours(found)).then_some(found)
    }
}
