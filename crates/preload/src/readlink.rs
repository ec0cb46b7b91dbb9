//! The one call that every OCaml runtime makes, and that is seen: its place in the process's life is that at which
//! sampling begins.
//!
//! Every OCaml runtime asks `readlink("/proc/self/exe")` for its own name when its heap is ready and no OCaml code has
//! run (`caml_executable_name` in `runtime/unix.c`).

use std::ffi::c_char;

use memtrail_agent::on_readlink;

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
