//! OCaml 4 with systhreads: one more thread in their ring, for a moment and without a trace.
//!
//! `caml_c_thread_register` puts the calling thread into the ring, calls the hook with which threads
//! come back from blocking sections, and only then allocates a descriptor, which takes the next
//! thread's identifier, and starts the thread that ticks. Both could be seen by the program. So in that
//! hook's place stands one of ours while we register: for the program's threads it calls the real one;
//! in our thread it does so, too, does the work, and leaves `caml_c_thread_register` there and then.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use memtrail_ocaml::symbols::heap as names;

use crate::os::symbol::symbol;

type Hook = unsafe extern "C" fn();
type Number = unsafe extern "C" fn() -> c_int;

/// Besides what `caml_c_thread_register` gives: 0 if it cannot, 1 if it can.
const CAME_IN: c_int = 2;

/// The visit under way.
struct Visit {
    /// The hook that ours replaces.
    leave: AtomicPtr<c_void>,
    /// The thread that registers.
    thread: AtomicU64,
    /// Where that thread's stack was when it began to.
    stack: AtomicU64,
    /// What it does there.
    work: AtomicPtr<c_void>,
}

static VISIT: Visit = Visit {
    leave: AtomicPtr::new(std::ptr::null_mut()),
    thread: AtomicU64::new(0),
    stack: AtomicU64::new(0),
    work: AtomicPtr::new(std::ptr::null_mut()),
};

/// Does `work` while this thread holds systhreads' lock, and all others have left their state in the
/// ring. One thread of ours does this.
///
/// # Safety
/// Systhreads has begun: its hooks are in these variables. `work` neither unwinds nor allocates on
/// the OCaml heap.
pub(crate) unsafe fn visit(
    enter: *const AtomicPtr<c_void>,
    leave: *const AtomicPtr<c_void>,
    mut work: impl FnMut(),
) {
    let [register, unregister] = names::REGISTER_THREAD.map(symbol);
    if register.is_null() || unregister.is_null() {
        return;
    }
    let mut work: &mut dyn FnMut() = &mut work;
    VISIT.work.store((&raw mut work).cast(), Release);
    // SAFETY: systhreads declares the functions so. What is left half done by `register` is the same
    // as after it, but for descriptor and ticks, which `unregister` does not look at.
    unsafe {
        let unregister = std::mem::transmute::<*mut c_void, Number>(unregister);
        VISIT.thread.store(libc::pthread_self(), Release);
        VISIT.leave.store((*leave).load(Acquire), Release);
        (*leave).store(come_in as Hook as *mut c_void, Release);
        let outcome = begin(std::mem::transmute::<*mut c_void, Number>(register), &VISIT.stack);
        let _ = (*leave).compare_exchange(
            come_in as Hook as *mut c_void,
            VISIT.leave.load(Acquire),
            AcqRel,
            Relaxed,
        );
        if outcome == CAME_IN {
            // What the runtime would call after the handlers of signals that have come: these are
            // not to run in this thread.
            let enter = (*enter).load(Acquire);
            std::mem::transmute::<*mut c_void, Hook>(enter)();
        }
        if outcome != 0 {
            unregister();
        }
    }
}

/// In place of systhreads' hook.
unsafe extern "C" fn come_in() {
    // SAFETY: what stood in the hook's variable is such a function.
    unsafe { std::mem::transmute::<*mut c_void, Hook>(VISIT.leave.load(Acquire))() };
    // SAFETY: always allowed.
    if unsafe { libc::pthread_self() } != VISIT.thread.load(Acquire) {
        return;
    }
    let work = VISIT.work.load(Acquire).cast::<&mut dyn FnMut()>();
    // SAFETY: `visit` waits in `begin`, in this thread, with the work on its stack; the frames between
    // are C's and this one, and none has anything to drop.
    unsafe {
        (*work)();
        end(VISIT.stack.load(Acquire))
    }
}

/// Calls `register` and gives what it gives; or [`CAME_IN`], if `end` is called in between. Keeps its stack
/// pointer in `began`.
#[unsafe(naked)]
unsafe extern "C" fn begin(register: Number, began: &AtomicU64) -> c_int {
    #[cfg(target_arch = "x86_64")]
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov [rsi], rsp",
        "call rdi",
        "jmp {leave}",
        leave = sym leave_frame,
    );
    #[cfg(target_arch = "aarch64")]
    naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x1]",
        "blr x0",
        "b {leave}",
        leave = sym leave_frame,
    );
}

/// Returns from `begin` with [`CAME_IN`], whatever was called since.
#[unsafe(naked)]
unsafe extern "C" fn end(began: u64) -> ! {
    #[cfg(target_arch = "x86_64")]
    naked_asm!(
        "mov rsp, rdi",
        "mov eax, {came_in}",
        "jmp {leave}",
        came_in = const CAME_IN,
        leave = sym leave_frame,
    );
    #[cfg(target_arch = "aarch64")]
    naked_asm!(
        "mov sp, x0",
        "mov w0, #{came_in}",
        "b {leave}",
        came_in = const CAME_IN,
        leave = sym leave_frame,
    );
}

/// The end of `begin`: its frame is on top of the stack, and its result where results are.
#[unsafe(naked)]
unsafe extern "C" fn leave_frame() {
    #[cfg(target_arch = "x86_64")]
    naked_asm!(
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    );
    #[cfg(target_arch = "aarch64")]
    naked_asm!(
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x29, x30, [sp], #160",
        "ret",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    static LEFT: AtomicU64 = AtomicU64::new(0);

    unsafe extern "C" fn comes_back() -> c_int {
        41
    }

    unsafe extern "C" fn is_left() -> c_int {
        // SAFETY: `begin` waits below, and nothing here is to be dropped.
        unsafe { end(LEFT.load(Acquire)) }
    }

    #[test]
    fn begin_gives_what_is_returned_or_that_it_was_left() {
        // What the compiler keeps in registers must be there afterwards.
        for seed in 0..100_u64 {
            let kept: [u64; 12] = std::array::from_fn(|i| seed.wrapping_mul(i as u64 + 3));
            let sum: u64 = kept.iter().sum();
            // SAFETY: both functions are such numbers; only `is_left` calls `end`.
            unsafe {
                assert_eq!(begin(comes_back, &LEFT), 41);
                assert_eq!(begin(is_left, &LEFT), CAME_IN);
            }
            assert_eq!(kept.iter().sum::<u64>(), sum);
        }
    }
}
