//! Takes the snapshot at the end as the program calls `exit`: before exit handlers and destructors free memory.
//!
//! Libc calls `exit` itself when `main` returns, past any function before it. So its first instructions lead here.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::context::functions::size_of_function;
use crate::native::ending::take_last;
use crate::os::function_hooks::{FunctionHook, prepare};
use crate::os::symbol::symbol;

const NAME: &str = "exit";

/// Address at which libc's function can be called.
static EXIT: AtomicU64 = AtomicU64::new(0);

/// Lets calls of `exit` arrive here. Where its first instructions are not known, the snapshot comes after the handlers.
///
/// The process has one thread.
pub(super) fn watch() {
    let function = symbol(NAME);
    // SAFETY: a C string; finds the definition after ours, which is not the program's own.
    let of_library = unsafe { libc::dlsym(libc::RTLD_NEXT, c"exit".as_ptr()) };
    if function.is_null() || function != of_library {
        return;
    }
    let ours = exit as unsafe extern "C" fn(c_int) -> ! as *const c_void;
    let hook = FunctionHook { name: NAME, function, size: size_of_function(NAME), ours };
    let Ok(prepared) = prepare(&[hook]) else { return };
    let Some(&original) = prepared.originals.first() else { return };
    EXIT.store(original, Relaxed);
    // SAFETY: `exit` below can be called in its place, and the process has one thread.
    let _ = unsafe { prepared.begin() };
}

/// In place of `exit`. Nothing of ours stays on the stack, which handlers that allocate have in their callstacks.
#[unsafe(naked)]
unsafe extern "C" fn exit(code: c_int) -> ! {
    naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "call {before}",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp qword ptr [rip + {original}]",
        ".cfi_endproc",
        before = sym before,
        original = sym EXIT,
    )
}

extern "C" fn before() {
    take_last();
}
