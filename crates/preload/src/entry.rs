//! How control gets here: the library's constructor, one call that every OCaml runtime makes, and
//! the process's ways out.
//!
//! The constructor only looks. Every OCaml runtime asks `readlink("/proc/self/exe")` for its own name
//! when its heap is ready and no OCaml code has run (`caml_executable_name` in `runtime/unix.c`):
//! there sampling begins.

use std::ffi::{c_char, c_int};

use memtrail_agent::{end_of_process, load, on_readlink};

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char) = constructor;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = destructor;

extern "C" fn constructor(count: c_int, arguments: *const *const c_char) {
    // SAFETY: the loader passes the program's arguments, before anything else runs.
    unsafe { load(count, arguments) };
}

extern "C" fn destructor() {
    end_of_process();
}

/// Stands before libc's `readlink`.
///
/// # Safety
/// As `readlink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readlink(path: *const c_char, into: *mut c_char, size: usize) -> isize {
    // SAFETY: the caller's path is a C string, as the system call would demand.
    unsafe { on_readlink(path) };
    // SAFETY: the caller's arguments; `syscall` sets errno as libc's own would.
    unsafe { libc::syscall(libc::SYS_readlinkat, libc::AT_FDCWD, path, into, size) as isize }
}

/// Stands before the variant that programs compiled with `_FORTIFY_SOURCE` call.
///
/// # Safety
/// As `readlink`; `room` is the size of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __readlink_chk(
    path: *const c_char,
    into: *mut c_char,
    size: usize,
    room: usize,
) -> isize {
    if size > room {
        // What libc's own does, after a message.
        std::process::abort();
    }
    // SAFETY: as above.
    unsafe { readlink(path, into, size) }
}
