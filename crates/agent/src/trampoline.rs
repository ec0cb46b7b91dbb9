//! Entry points that OCaml's callback convention can call, and that call ours.
//!
//! At a closure's code, argument and closure are in registers of OCaml's own (`runtime/amd64.S`,
//! `caml_callback_asm`). In OCaml 4 the stack is C's own; in OCaml 5 it may be a small fiber, so the
//! call moves to the C stack, exactly as compiled code does for externals that do not allocate.
//! Ours never allocate on the OCaml heap, so nothing is saved for the collector.
//!
//! For an allocation callback the runtime allocates its argument in the minor heap and, before that,
//! mostly the callstack. When ours is done nobody refers to them; where they are still the youngest
//! blocks, they are taken back, so that `Gc.minor_words` and the times of minor collections stay
//! what they are without sampling. On fibers a younger block of the runtime's keeps them.

use std::arch::naked_asm;

use memtrail_ocaml::layout::{Layout, Machine};
use memtrail_ocaml::memprof::Callback;
use memtrail_ocaml::{Family, Version};

use crate::callstack::RECEIPT_WORDS;
use crate::sampling::{alloc_major, alloc_minor, dealloc, promote};

/// `c_stack` in the state: the same in all runtimes that can sample.
const C_STACK: usize = match Layout::of(Version::V5_3, Machine::HERE).multicore() {
    Some(fields) => fields.c_stack as usize,
    None => 0,
};

/// Takes back the argument (in rbx) and the callstack in it: a block that is the youngest (r15 is
/// its header's address) and has the size that it must have.
#[cfg(target_arch = "x86_64")]
macro_rules! take_back {
    () => {
        concat!(
            "lea rcx, [rbx - 8]\n",
            "cmp rcx, r15\n",
            "jne 2f\n",
            "mov rdx, [rcx]\n",
            "shr rdx, 10\n",
            "cmp rdx, {argument}\n",
            "jne 2f\n",
            "lea r15, [r15 + 8 * {argument} + 8]\n",
            "mov rbx, [rbx + 8 * {callstack_field}]\n",
            "lea rcx, [rbx - 8]\n",
            "cmp rcx, r15\n",
            "jne 2f\n",
            "mov rdx, [rcx]\n",
            "shr rdx, 10\n",
            "cmp rdx, {callstack}\n",
            "jne 2f\n",
            "lea r15, [r15 + 8 * {callstack} + 8]\n",
            "2:",
        )
    };
}

/// Fields of the argument, and which of them is the callstack.
const ARGUMENT: usize = 4;
const CALLSTACK_FIELD: usize = 3;

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

/// As [`trampolines`], for callbacks whose argument was allocated for them.
macro_rules! alloc_trampolines {
    ($single:ident, $multicore:ident, $ours:path) => {
        /// From OCaml 4.
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        unsafe extern "C" fn $single() {
            naked_asm!(
                "mov rbx, rax",
                "mov rdi, rax",
                "mov rsi, r14",
                "sub rsp, 8",
                "call {ours}",
                "add rsp, 8",
                take_back!(),
                "ret",
                argument = const ARGUMENT,
                callstack_field = const CALLSTACK_FIELD,
                callstack = const RECEIPT_WORDS,
                ours = sym $ours,
            );
        }

        /// From OCaml 5.
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        unsafe extern "C" fn $multicore() {
            naked_asm!(
                "mov rbx, rax",
                "mov r12, rsp",
                "mov rsp, [r14 + {c_stack}]",
                "mov rdi, rax",
                "mov rsi, r14",
                "call {ours}",
                "mov rsp, r12",
                take_back!(),
                "ret",
                c_stack = const C_STACK,
                argument = const ARGUMENT,
                callstack_field = const CALLSTACK_FIELD,
                callstack = const RECEIPT_WORDS,
                ours = sym $ours,
            );
        }

        #[cfg(not(target_arch = "x86_64"))]
        trampolines!($single, $multicore, $ours);
    };
}

alloc_trampolines!(alloc_minor_single, alloc_minor_multicore, alloc_minor);
alloc_trampolines!(alloc_major_single, alloc_major_multicore, alloc_major);
trampolines!(promote_single, promote_multicore, promote);
trampolines!(dealloc_single, dealloc_multicore, dealloc);

/// The code pointer for a callback's closure.
pub(crate) fn of(family: Family, callback: Callback) -> *const () {
    let code: unsafe extern "C" fn() = match (family, callback) {
        (Family::Single, Callback::AllocMinor) => alloc_minor_single,
        (Family::Single, Callback::AllocMajor) => alloc_major_single,
        (Family::Single, Callback::Promote) => promote_single,
        (Family::Single, Callback::DeallocMinor | Callback::DeallocMajor) => dealloc_single,
        (Family::Multicore, Callback::AllocMinor) => alloc_minor_multicore,
        (Family::Multicore, Callback::AllocMajor) => alloc_major_multicore,
        (Family::Multicore, Callback::Promote) => promote_multicore,
        (Family::Multicore, Callback::DeallocMinor | Callback::DeallocMajor) => dealloc_multicore,
    };
    code as *const ()
}
