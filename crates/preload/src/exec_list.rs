//! Stands before libc's `execl`, `execlp` and `execle`, which take the next program's arguments one by one.
//!
//! libc's own do not call `execve` by its name. Each function here puts those arguments that are in registers below those
//! that are on the stack: together they are the array that [`execve`] takes.

use std::arch::naked_asm;
use std::ffi::{c_char, c_int};

use super::{Strings, environ, execve, execvpe};

/// Defines a function with C's variable arguments that calls `$inner(first, array of the others)`.
macro_rules! with_list {
    ($name:ident, $inner:ident) => {
        /// # Safety
        /// As libc's.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(first: *const c_char) -> c_int {
            #[cfg(target_arch = "x86_64")]
            naked_asm!(
                // The return address makes room for the registers, and is below them.
                "pop r11",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "push r11",
                "lea rsi, [rsp + 8]",
                "call {inner}",
                "pop r11",
                "add rsp, 40",
                "push r11",
                "ret",
                inner = sym $inner,
            );
            #[cfg(target_arch = "aarch64")]
            naked_asm!(
                "sub sp, sp, #80",
                "stp x29, x30, [sp]",
                "str x1, [sp, #24]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "add x1, sp, #24",
                "bl {inner}",
                "ldp x29, x30, [sp]",
                "add sp, sp, #80",
                "ret",
                inner = sym $inner,
            );
        }
    };
}

with_list!(execl, with_path);
with_list!(execlp, with_name);
with_list!(execle, with_environment);

unsafe extern "C" fn with_path(path: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the arguments of `execl`, which end with null.
    unsafe { execve(path, arguments, environ) }
}

unsafe extern "C" fn with_name(file: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the arguments of `execlp`, which end with null.
    unsafe { execvpe(file, arguments, environ) }
}

unsafe extern "C" fn with_environment(path: *const c_char, arguments: Strings) -> c_int {
    let mut end = arguments;
    // SAFETY: the arguments of `execle` end with null, behind which the environment is.
    unsafe {
        while !(*end).is_null() {
            end = end.add(1);
        }
        execve(path, arguments, end.add(1).read().cast())
    }
}
