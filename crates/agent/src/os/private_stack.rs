//! A stack of our own for each thread of the target that runs our code.
//!
//! A program may be at the very end of its stack when it calls us, and what it does then (an
//! exception, a fault, an exit) depends on how much is left. So our code runs elsewhere: on memory
//! that is mapped when a thread first needs it, with a page below that faults, and unmapped when the
//! thread ends. The program's stack holds one small frame of ours meanwhile.
//!
//! Calls that come while the stack is in use stay on it: a hook of the runtime that we have called, or
//! a signal handler of the program that interrupted us. A handler on a stack of its own, whose sp says
//! nothing of how far ours is used, gets a mapping for that one call.

use std::ffi::{c_long, c_void};
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

use crate::os::errno::keeping_errno;
use crate::os::thread_exit;
use crate::os::tls;

/// Enough for the deepest of our work, for what the runtime does in it (part of a collection, and
/// finalisers written in C), and for handlers of the program that interrupt it. Pages that are never
/// touched take no memory.
const SIZE: usize = 1024 * 1024;
/// A multiple of every page size.
const GUARD: usize = 64 * 1024;

/// What is known of a stack; lies at its high end.
#[repr(C, align(64))]
pub(crate) struct PrivateStack {
    in_use: AtomicBool,
    /// Its address, with bits changed: who looks at the process's mappings knows it by that.
    mark: AtomicU64,
}

/// What an address is changed by.
const MARK: u64 = 0x6d65_6d74_7261_696c;

/// Maps memory, not by the function: ours may come before it.
unsafe fn map(bytes: usize, access: i32, flags: i32) -> *mut c_void {
    // Words, as the kernel takes them.
    let (access, flags) = (c_long::from(access), c_long::from(flags));
    let (no_file, offset): (c_long, c_long) = (-1, 0);
    let none = ptr::null_mut::<c_void>();
    // SAFETY: a fresh mapping touches no memory that is in use.
    let at = unsafe { libc::syscall(libc::SYS_mmap, none, bytes, access, flags, no_file, offset) };
    ptr::with_exposed_provenance_mut(at as usize)
}

impl PrivateStack {
    /// Maps one; null if there is no memory for it.
    fn map() -> *mut Self {
        let (access, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
        );
        keeping_errno(|| {
            // SAFETY: a fresh mapping, whose lowest part is made inaccessible; zeros are a stack that
            // is not in use.
            unsafe {
                let base = map(GUARD + SIZE, access, flags);
                if base == libc::MAP_FAILED {
                    return ptr::null_mut();
                }
                libc::mprotect(base, GUARD, libc::PROT_NONE);
                let stack: *mut Self = base.byte_add(GUARD + SIZE - size_of::<Self>()).cast();
                (*stack).mark.store(stack.addr() as u64 ^ MARK, Relaxed);
                stack
            }
        })
    }

    /// # Safety
    /// `stack` came from `map`, and nothing on it is used any more.
    unsafe fn unmap(stack: *mut Self) {
        // SAFETY: as the caller promises.
        unsafe {
            let base = stack.cast::<c_void>().byte_add(size_of::<Self>()).byte_sub(GUARD + SIZE);
            // Not by the function: ours may come before it.
            libc::syscall(libc::SYS_munmap, base, GUARD + SIZE);
        }
    }

    /// Whether the caller runs on it.
    fn is_under_us(stack: *const Self) -> bool {
        let here = (&raw const stack) as usize;
        !stack.is_null() && (stack as usize).wrapping_sub(here) < SIZE
    }
}

/// This thread's stack; null if it has none.
#[inline]
fn current() -> *mut PrivateStack {
    // SAFETY: the slot is this thread's.
    unsafe { (*tls::slots()).stack.cast() }
}

/// Whether this thread runs our code on it.
pub(crate) fn is_in_use() -> bool {
    // SAFETY: null, or mapped as long as this thread's slot says so.
    unsafe { current().as_ref() }.is_some_and(|stack| stack.in_use.load(Relaxed))
}

/// Bytes of such a stack, and of the guard below it, as the kernel lists them.
pub(crate) const fn extent() -> (u64, u64) {
    (SIZE as u64, GUARD as u64)
}

/// The memory of the stack that begins at an address, right above its guard, if there is one. `word` reads memory.
pub(crate) fn beginning_at(
    start: u64,
    word: impl FnOnce(u64) -> Option<u64>,
) -> Option<Range<u64>> {
    let end = start.checked_add(SIZE as u64)?;
    let stack = end.checked_sub(size_of::<PrivateStack>() as u64)?;
    let mark = word(stack.checked_add(offset_of!(PrivateStack, mark) as u64)?)?;
    (mark == stack ^ MARK).then_some(start..end)
}

/// Runs `work`, which must not unwind, on this thread's private stack.
#[inline]
pub(crate) fn run<T, F: FnOnce() -> T>(work: F) -> T {
    let mut call = Call { work: ManuallyDrop::new(work), result: MaybeUninit::uninit() };
    let data = (&raw mut call).cast();
    let stack = current();
    // SAFETY: the stack is mapped as long as its slot says so; `perform` gets the call that it is made
    // for, and completes it.
    unsafe {
        if stack.is_null() || (*stack).in_use.load(Relaxed) {
            call_rarely(stack, data, perform::<T, F>);
        } else {
            call_on(stack, data, perform::<T, F>);
        }
        call.result.assume_init()
    }
}

type Function = unsafe extern "C" fn(*mut c_void);

/// # Safety
/// The stack is mapped and not in use; the function may be called with that data.
#[inline]
unsafe fn call_on(stack: *mut PrivateStack, data: *mut c_void, function: Function) {
    // SAFETY: as the caller promises.
    unsafe {
        (*stack).in_use.store(true, Relaxed);
        // For handlers of signals that come in between.
        compiler_fence(SeqCst);
        memtrail_call_on_stack(data, function, stack.cast());
        compiler_fence(SeqCst);
        (*stack).in_use.store(false, Relaxed);
    }
}

/// On first use, and while the stack is in use.
///
/// # Safety
/// The stack is null or mapped; the function may be called with that data.
#[cold]
#[inline(never)]
unsafe fn call_rarely(stack: *mut PrivateStack, data: *mut c_void, function: Function) {
    // SAFETY: as the caller promises; fresh stacks are not in use, and a spare one is not when the call
    // is done.
    unsafe {
        if PrivateStack::is_under_us(stack) {
            return function(data);
        }
        let fresh = PrivateStack::map();
        if fresh.is_null() {
            return function(data);
        }
        if stack.is_null() {
            (*tls::slots()).stack = fresh.cast();
            call_on(fresh, ptr::null_mut(), watch_end);
            call_on(fresh, data, function);
        } else {
            call_on(fresh, data, function);
            PrivateStack::unmap(fresh);
        }
    }
}

unsafe extern "C" fn watch_end(_: *mut c_void) {
    thread_exit::watch();
}

/// Gives this thread's stack back, as the thread ends.
pub(crate) fn release() {
    let stack = current();
    // SAFETY: the slot is this thread's; a stack that is in use stays.
    unsafe {
        if !stack.is_null() && !(*stack).in_use.load(Relaxed) {
            (*tls::slots()).stack = ptr::null_mut();
            PrivateStack::unmap(stack);
        }
    }
}

/// Work, and where its result goes.
struct Call<T, F> {
    work: ManuallyDrop<F>,
    result: MaybeUninit<T>,
}

unsafe extern "C" fn perform<T, F: FnOnce() -> T>(call: *mut c_void) {
    // SAFETY: `run` passes a call that nobody else uses, once.
    unsafe {
        let call = &mut *call.cast::<Call<T, F>>();
        let work = ManuallyDrop::take(&mut call.work);
        call.result.write(work());
    }
}

unsafe extern "C" {
    /// Calls `function` with `data` on the stack that ends at `top`. The frame pointer leads debuggers
    /// and profilers back.
    fn memtrail_call_on_stack(data: *mut c_void, function: Function, top: *mut c_void);
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".p2align 4",
    ".globl memtrail_call_on_stack",
    ".hidden memtrail_call_on_stack",
    ".type memtrail_call_on_stack,%function",
    "memtrail_call_on_stack:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdx",
    "call rsi",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size memtrail_call_on_stack, . - memtrail_call_on_stack",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".p2align 4",
    ".globl memtrail_call_on_stack",
    ".hidden memtrail_call_on_stack",
    ".type memtrail_call_on_stack,%function",
    "memtrail_call_on_stack:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset x29, -16",
    ".cfi_offset x30, -8",
    "mov x29, sp",
    ".cfi_def_cfa_register x29",
    "mov sp, x2",
    "blr x1",
    "mov sp, x29",
    ".cfi_def_cfa_register sp",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa_offset 0",
    "ret",
    ".cfi_endproc",
    ".size memtrail_call_on_stack, . - memtrail_call_on_stack",
);
