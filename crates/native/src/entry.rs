//! How control gets here: the library's constructor, and the process's end.

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

use memtrail_agent::native::{end_of_process, load};

use crate::next;

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char) = constructor;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = destructor;

extern "C" fn constructor(count: c_int, arguments: *const *const c_char) {
    next::find();
    // SAFETY: a C string; finds the function that the program calls, which may be its own.
    let called = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    let here = constructor as extern "C" fn(c_int, *const *const c_char) as *const c_void;
    let is_bypassed = base_of(called) != base_of(here);
    // SAFETY: the loader passes the program's arguments, before anything else runs.
    unsafe { load(count, arguments, is_bypassed) };
}

/// Where the library or executable of an address is in memory.
fn base_of(address: *const c_void) -> usize {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: zeros are a value, which the call replaces if it finds something.
    unsafe {
        libc::dladdr(address, found.as_mut_ptr());
        found.assume_init().dli_fbase.addr()
    }
}

extern "C" fn destructor() {
    end_of_process();
}
