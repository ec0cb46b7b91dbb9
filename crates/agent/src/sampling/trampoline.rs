//! Entry points that OCaml's callback convention can call, and that call ours.
//!
//! At a closure's code, argument and closure are in registers of OCaml's own (`runtime/amd64.S`,
//! `caml_callback_asm`). In OCaml 4 the stack is C's own; in OCaml 5 it may be a small fiber, so the
//! call moves to the C stack, exactly as compiled code does for externals that do not allocate.
//! Ours never allocate on the OCaml heap, so nothing is saved for the collector.

use std::arch::naked_asm;

use memtrail_ocaml::Version;
use memtrail_ocaml::layout::{Layout, Machine};
use memtrail_ocaml::memprof::Callback;

use crate::sampling::callbacks::{alloc_major, alloc_minor, dealloc, promote};

/// `c_stack` in the state: the same in all runtimes that can sample.
const C_STACK: usize = match Layout::of(Version::V5_3, Machine::HERE).multicore() {
    Some(fields) => fields.c_stack as usize,
    None => 0,
};

macro_rules! trampolines {
    ($single:ident, $multicore:ident, $ours:path) => {
        /// From OCaml 4.
        #[unsafe(naked)]
        unsafe extern "C" fn $single() {
            #[cfg(target_arch = "x86_64")]
            naked_asm!("mov rdi, rax", "mov rsi, r14", "jmp {ours}", ours = sym $ours);
            // The argument is in x0 already; x28 is the state.
            #[cfg(target_arch = "aarch64")]
            naked_asm!("mov x1, x28", "b {ours}", ours = sym $ours);
        }

        /// From OCaml 5.
        #[unsafe(naked)]
        unsafe extern "C" fn $multicore() {
            // OCaml code expects no register to be kept but those of state and allocation.
            #[cfg(target_arch = "x86_64")]
            naked_asm!(
                "mov rbx, rsp",
                "mov rsp, [r14 + {c_stack}]",
                "mov rdi, rax",
                "mov rsi, r14",
                "call {ours}",
                "mov rsp, rbx",
                "ret",
                c_stack = const C_STACK,
                ours = sym $ours,
            );
            #[cfg(target_arch = "aarch64")]
            naked_asm!(
                "mov x19, sp",
                "mov x20, x30",
                "ldr x9, [x28, #{c_stack}]",
                "mov sp, x9",
                "mov x1, x28",
                "bl {ours}",
                "mov sp, x19",
                "ret x20",
                c_stack = const C_STACK,
                ours = sym $ours,
            );
        }
    };
}

trampolines!(alloc_minor_single, alloc_minor_multicore, alloc_minor);
trampolines!(alloc_major_single, alloc_major_multicore, alloc_major);
trampolines!(promote_single, promote_multicore, promote);
trampolines!(dealloc_single, dealloc_multicore, dealloc);

/// The code of a callback's closure, in OCaml 4.
pub(crate) fn single(callback: Callback) -> *const () {
    let code: unsafe extern "C" fn() = match callback {
        Callback::AllocMinor => alloc_minor_single,
        Callback::AllocMajor => alloc_major_single,
        Callback::Promote => promote_single,
        Callback::DeallocMinor | Callback::DeallocMajor => dealloc_single,
    };
    code as *const ()
}

/// The code of a callback's closure, in OCaml 5.
pub(crate) fn multicore(callback: Callback) -> *const () {
    let code: unsafe extern "C" fn() = match callback {
        Callback::AllocMinor => alloc_minor_multicore,
        Callback::AllocMajor => alloc_major_multicore,
        Callback::Promote => promote_multicore,
        Callback::DeallocMinor | Callback::DeallocMajor => dealloc_multicore,
    };
    code as *const ()
}
