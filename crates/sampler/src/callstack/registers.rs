//! The registers of a function under way, from which its callers are found.

use crate::units::Address;

/// Where a function is, and where its frame.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    pub(super) instruction: Address,
    pub(super) stack: Address,
    /// The frame pointer's register, whatever the function uses it for.
    pub(super) frame: Address,
}

impl Registers {
    /// Those of the function that this is inlined into.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the registers are those of the caller's frame")]
    pub fn here() -> Self {
        let (instruction, stack, frame): (usize, usize, usize);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: reads registers, and nothing else.
        unsafe {
            core::arch::asm!(
                "lea {0}, [rip]",
                "mov {1}, rsp",
                "mov {2}, rbp",
                out(reg) instruction,
                out(reg) stack,
                out(reg) frame,
                options(nomem, nostack, preserves_flags),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: reads registers, and nothing else.
        unsafe {
            core::arch::asm!(
                "adr {0}, .",
                "mov {1}, sp",
                "mov {2}, x29",
                out(reg) instruction,
                out(reg) stack,
                out(reg) frame,
                options(nomem, nostack, preserves_flags),
            );
        }
        Self { instruction: Address(instruction), stack: Address(stack), frame: Address(frame) }
    }
}
