//! Where the part of a thread's stack begins that is in use.

/// The registers that functions preserve, stored in the frame of the function that made it: they and all that is above
/// may be in use.
#[repr(C)]
pub(in crate::native) struct StackTop([u64; 6]);

impl StackTop {
    /// Those of the function that this is inlined into.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the registers are those of the caller's frame")]
    pub(in crate::native) fn here() -> Self {
        let mut registers = [0_u64; 6];
        #[cfg(target_arch = "x86_64")]
        // SAFETY: stores registers into the array.
        unsafe {
            core::arch::asm!(
                "mov [{0}], rbx",
                "mov [{0} + 8], rbp",
                "mov [{0} + 16], r12",
                "mov [{0} + 24], r13",
                "mov [{0} + 32], r14",
                "mov [{0} + 40], r15",
                in(reg) &raw mut registers,
                options(nostack, preserves_flags),
            );
        }
        Self(registers)
    }

    /// Its address.
    pub(super) fn address(&self) -> u64 {
        self.0.as_ptr().addr() as u64
    }
}
