//! A way out of our code where memory is exhausted: back to the border, past all frames of ours.
//!
//! Rust's collections end the process if they get no memory, and a panic cannot pass the allocator. So the border
//! notes where it is, and the allocator goes back there. The frames in between are abandoned: what they own is never
//! freed, and their locks stay held. So nothing of ours may run on afterwards but a last note
//! ([`ffi_guard`](crate::os::ffi_guard)), and waiting for a lock ends in the same way.

use std::ffi::c_void;
use std::mem::{ManuallyDrop, MaybeUninit};

use crate::os::tls;

/// Work, and where its result goes.
struct Call<T, F> {
    work: ManuallyDrop<F>,
    result: MaybeUninit<T>,
}

unsafe extern "C" fn perform<T, F: FnOnce() -> T>(call: *mut c_void) {
    // SAFETY: `catch` passes a call that nobody else uses, once.
    unsafe {
        let call = &mut *call.cast::<Call<T, F>>();
        let work = ManuallyDrop::take(&mut call.work);
        call.result.write(work());
    }
}

/// Runs `work`, which must not unwind; `None` if it was left by [`leave`].
#[inline]
pub(crate) fn catch<T, F: FnOnce() -> T>(work: F) -> Option<T> {
    let mut call = Call { work: ManuallyDrop::new(work), result: MaybeUninit::uninit() };
    let slots = tls::slots();
    // SAFETY: the slots are this thread's; `perform` gets the call that it is made for, and completes it unless it is
    // left. A border before this one is there until this function returns.
    unsafe {
        let place = &raw mut (*slots).border;
        let before = place.read_volatile();
        let left = memtrail_catch((&raw mut call).cast(), perform::<T, F>, place);
        place.write_volatile(before);
        (left == 0).then(|| call.result.assume_init())
    }
}

/// Goes back to this thread's innermost [`catch`]. Returns only where there is none.
#[cold]
pub(crate) fn leave() {
    // SAFETY: the slot is this thread's; what it names is a frame below this one.
    unsafe {
        let border = (&raw const (*tls::slots()).border).read_volatile();
        if !border.is_null() {
            memtrail_leave(border);
        }
    }
}

unsafe extern "C" {
    /// Calls `function` with `data`, after it has noted its frame in `border`. Gives 0, or 1 if it was left.
    fn memtrail_catch(
        data: *mut c_void,
        function: unsafe extern "C" fn(*mut c_void),
        border: *mut *mut c_void,
    ) -> u64;
    /// Returns from the call of `memtrail_catch` with that frame.
    fn memtrail_leave(border: *mut c_void) -> !;
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".p2align 4",
    ".globl memtrail_catch",
    ".hidden memtrail_catch",
    ".type memtrail_catch,%function",
    "memtrail_catch:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    ".cfi_offset rbx, -24",
    "push r12",
    ".cfi_offset r12, -32",
    "push r13",
    ".cfi_offset r13, -40",
    "push r14",
    ".cfi_offset r14, -48",
    "push r15",
    ".cfi_offset r15, -56",
    "sub rsp, 8",
    "mov qword ptr [rdx], rsp",
    "call rsi",
    "xor eax, eax",
    "2:",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size memtrail_catch, . - memtrail_catch",
    ".globl memtrail_leave",
    ".hidden memtrail_leave",
    ".type memtrail_leave,%function",
    "memtrail_leave:",
    "mov rsp, rdi",
    "mov eax, 1",
    "jmp 2b",
    ".size memtrail_leave, . - memtrail_leave",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".p2align 4",
    ".globl memtrail_catch",
    ".hidden memtrail_catch",
    ".type memtrail_catch,%function",
    "memtrail_catch:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-160]!",
    ".cfi_def_cfa_offset 160",
    ".cfi_offset x29, -160",
    ".cfi_offset x30, -152",
    "mov x29, sp",
    "stp x19, x20, [sp, #16]",
    "stp x21, x22, [sp, #32]",
    "stp x23, x24, [sp, #48]",
    "stp x25, x26, [sp, #64]",
    "stp x27, x28, [sp, #80]",
    "stp d8, d9, [sp, #96]",
    "stp d10, d11, [sp, #112]",
    "stp d12, d13, [sp, #128]",
    "stp d14, d15, [sp, #144]",
    "str x29, [x2]",
    "blr x1",
    "mov x0, #0",
    "2:",
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
    ".cfi_def_cfa_offset 0",
    "ret",
    ".cfi_endproc",
    ".size memtrail_catch, . - memtrail_catch",
    ".globl memtrail_leave",
    ".hidden memtrail_leave",
    ".type memtrail_leave,%function",
    "memtrail_leave:",
    "mov sp, x0",
    "mov x0, #1",
    "b 2b",
    ".size memtrail_leave, . - memtrail_leave",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_border_is_gone_back_to() {
        let mut after = false;
        let outer = catch(|| {
            let inner = catch(|| {
                leave();
                after = true;
            });
            assert_eq!(inner, None);
            assert_eq!(catch(|| 5), Some(5));
            7
        });
        assert_eq!((outer, after), (Some(7), false));
        // There is none.
        leave();
    }
}
