//! What we keep for each thread, reachable without calling anything.
//!
//! Rust's `thread_local!` in a shared library goes through `__tls_get_addr`, which newer glibcs let
//! call `malloc`. Slots in the initial-exec model cost two instructions and cannot recurse; the
//! library is loaded at start-up, so the static TLS block has room for it.

use std::ffi::c_void;

/// What each thread has, null at first.
#[repr(C)]
pub(crate) struct Slots {
    /// What the layers above keep for it.
    pub(crate) thread: *mut c_void,
    /// The environment of the last program that it started or became.
    pub(crate) environment: *mut c_void,
    /// Its private stack.
    pub(crate) stack: *mut c_void,
    /// It is inside our allocator.
    pub(crate) allocates: bool,
    /// It can go on where our allocator has no memory.
    pub(crate) may_fail: bool,
    /// When the garbage collector began what it does on it, by kind; 0 where it does not.
    pub(crate) collecting: [u64; 2],
    /// Where our code is left if memory is exhausted.
    pub(crate) border: *mut c_void,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
core::arch::global_asm!(
    ".section .tbss,\"awT\",%nobits",
    ".p2align 3",
    ".globl memtrail_thread_slots",
    ".hidden memtrail_thread_slots",
    ".type memtrail_thread_slots,%object",
    ".size memtrail_thread_slots,56",
    "memtrail_thread_slots:",
    ".zero 56",
    ".text",
);

const _: () = assert!(size_of::<Slots>() == 56, "as large as the section above");

/// Address of this thread's slots; it distinguishes threads.
#[inline]
pub(crate) fn slots() -> *mut Slots {
    let address: *mut Slots;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the thread pointer and a constant offset from the GOT; touches no memory else.
    unsafe {
        core::arch::asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + memtrail_thread_slots@GOTTPOFF]",
            out(reg) address,
            options(pure, readonly, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:memtrail_thread_slots",
            "ldr {1}, [{1}, #:gottprel_lo12:memtrail_thread_slots]",
            "add {0}, {0}, {1}",
            out(reg) address,
            out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    address
}
