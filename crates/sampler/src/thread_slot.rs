//! The state of a thread, and where it is.
//!
//! In a preloaded library, Rust's `thread_local!` asks the dynamic linker for the address, which newer versions of
//! glibc let call `malloc`. There the state is in the initial-exec model: its address is the thread pointer plus a
//! constant. The library is loaded when the program is, so there is room for it.

use std::cell::Cell;
use std::mem::MaybeUninit;

use crate::draw::Draws;

/// The state of a thread. Zeros are the state of a new one.
pub(crate) struct Thread {
    /// Bytes before this thread must look. When it must, what is left is more than there was.
    pub(crate) left: Cell<u64>,
    /// `left` after the last look.
    pub(crate) granted: Cell<u64>,
    /// Callbacks and suspensions under way.
    pub(crate) suspended: Cell<u32>,
    /// Uses of the current profile under way.
    pub(crate) in_use: Cell<u32>,
    /// The profile that is drawn for; 0 for none.
    pub(crate) generation: Cell<u64>,
    /// The draws for that profile.
    pub(crate) draws: Cell<MaybeUninit<Draws>>,
}

impl Thread {
    #[cfg(not(feature = "preloaded"))]
    const fn new() -> Self {
        Self {
            left: Cell::new(0),
            granted: Cell::new(0),
            suspended: Cell::new(0),
            in_use: Cell::new(0),
            generation: Cell::new(0),
            draws: Cell::new(MaybeUninit::uninit()),
        }
    }

    pub(crate) fn grant(&self, bytes: u64) {
        self.granted.set(bytes);
        self.left.set(bytes);
    }
}

#[cfg(not(feature = "preloaded"))]
thread_local! {
    static THREAD: Thread = const { Thread::new() };
}

/// Gives the state of this thread to a function.
#[cfg(not(feature = "preloaded"))]
#[inline]
pub(crate) fn with<R>(run: impl FnOnce(&Thread) -> R) -> R {
    THREAD.with(run)
}

#[cfg(feature = "preloaded")]
core::arch::global_asm!(
    ".section .tbss,\"awT\",%nobits",
    ".p2align 3",
    ".globl memtrail_sampler_thread",
    ".hidden memtrail_sampler_thread",
    ".type memtrail_sampler_thread,%object",
    ".size memtrail_sampler_thread,88",
    "memtrail_sampler_thread:",
    ".zero 88",
    ".text",
);

#[cfg(feature = "preloaded")]
const _: () = assert!(size_of::<Thread>() == 88, "as large as the section above");

/// Gives the state of this thread to a function.
#[cfg(feature = "preloaded")]
#[inline]
pub(crate) fn with<R>(run: impl FnOnce(&Thread) -> R) -> R {
    let address: *const Thread;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the thread pointer and a constant offset from the GOT; touches no memory else.
    unsafe {
        core::arch::asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + memtrail_sampler_thread@GOTTPOFF]",
            out(reg) address,
            options(pure, readonly, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:memtrail_sampler_thread",
            "ldr {1}, [{1}, #:gottprel_lo12:memtrail_sampler_thread]",
            "add {0}, {0}, {1}",
            out(reg) address,
            out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    // SAFETY: this thread's section, as large as the state, of which zeros are a value; it lives as long as the
    // thread does, and no other thread has its address.
    run(unsafe { &*address })
}

/// Subtracts from a field of this thread's state, and says whether it was less: in three instructions, where the address of
/// the state would take one more.
///
/// # Safety
/// At this offset is a number of 64 bits.
#[cfg(all(feature = "preloaded", target_arch = "x86_64"))]
#[inline]
pub(crate) unsafe fn subtract<const FIELD: usize>(number: u64) -> bool {
    // SAFETY: as the caller promises; this thread's section, at a constant offset in the GOT.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + memtrail_sampler_thread@GOTTPOFF]",
            "sub qword ptr fs:[{offset} + {field}], {number}",
            "jb {was_less}",
            offset = out(reg) _,
            field = const FIELD,
            number = in(reg) number,
            was_less = label { return true },
            options(nostack),
        );
    }
    false
}
