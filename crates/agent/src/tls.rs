//! One pointer a thread, reachable without calling anything.
//!
//! Rust's `thread_local!` in a shared library goes through `__tls_get_addr`, which newer glibcs let
//! call `malloc`. A slot in the initial-exec model costs two instructions and cannot recurse; the
//! library is loaded at start-up, so the static TLS block has room for it.

use std::ffi::c_void;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
core::arch::global_asm!(
    ".section .tbss,\"awT\",%nobits",
    ".p2align 3",
    ".globl memtrail_thread_slot",
    ".hidden memtrail_thread_slot",
    ".type memtrail_thread_slot,%object",
    ".size memtrail_thread_slot,8",
    "memtrail_thread_slot:",
    ".zero 8",
    ".text",
);

/// Address of this thread's slot; null at first.
#[inline]
pub(crate) fn slot() -> *mut *mut c_void {
    let address: *mut *mut c_void;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the thread pointer and a constant offset from the GOT; touches no memory else.
    unsafe {
        core::arch::asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + memtrail_thread_slot@GOTTPOFF]",
            out(reg) address,
            options(pure, readonly, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:memtrail_thread_slot",
            "ldr {1}, [{1}, #:gottprel_lo12:memtrail_thread_slot]",
            "add {0}, {0}, {1}",
            out(reg) address,
            out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    address
}
