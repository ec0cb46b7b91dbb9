//! Stands before libc's functions that end the process at once, without running destructors.

use std::ffi::c_int;

use crate::end_of_process;

/// # Safety
/// As `_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(code: c_int) -> ! {
    leave(code)
}

/// Stands before libc's `_Exit`, which is the same.
///
/// # Safety
/// As `_Exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(code: c_int) -> ! {
    leave(code)
}

fn leave(code: c_int) -> ! {
    end_of_process();
    // SAFETY: ends the process.
    unsafe { libc::syscall(libc::SYS_exit_group, code) };
    std::process::abort()
}
