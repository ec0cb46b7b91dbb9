//! Static probes (USDT) at sampled allocations and deallocations, for profilers outside of the process.
//!
//! The contract is that of OpenTelemetry's eBPF profiler (its design document 3, "memory profiling"): provider
//! `otel_memory`; `alloc(address, size, weighted_bytes)` at an allocation that is sampled, `free(address)` at the
//! deallocation of such a block and of no other. Without a listener a probe is one instruction that does nothing; the
//! section `.note.stapsdt` says where it is, and where the arguments are: in the registers of a call, as that profiler
//! expects them. There is no semaphore.
//!
//! What a tracker does not remember is no sampled block here: its deallocation would not be seen.

use crate::thread::Drawn;
use crate::units::{Address, Bytes};

/// A sampled block has been allocated.
#[inline]
pub(crate) fn allocated(address: Address, size: Bytes, drawn: Drawn) {
    alloc(address.0, size.0, drawn.rate.weight_in(drawn.unit, size).0);
}

/// A block is freed for which [`allocated`] was called.
#[inline]
pub(crate) fn freed(address: Address) {
    free(address.0);
}

/// A probe at this place in the code, and its note. The arguments are operands of the instruction.
macro_rules! probe {
    ($name:literal, $arguments:literal, $($operand:tt)*) => {
        std::arch::asm!(
            "990: nop",
            ".pushsection .note.stapsdt, \"\", \"note\"",
            ".balign 4",
            ".4byte 992f - 991f, 994f - 993f, 3",
            "991: .asciz \"stapsdt\"",
            "992: .balign 4",
            "993: .8byte 990b",
            ".8byte _.stapsdt.base",
            ".8byte 0",
            ".asciz \"otel_memory\"",
            concat!(".asciz \"", $name, "\""),
            concat!(".asciz \"", $arguments, "\""),
            "994: .balign 4",
            ".popsection",
            // By its address in memory, listeners see whether the file was laid out anew since it was linked.
            ".ifndef _.stapsdt.base",
            ".pushsection .stapsdt.base, \"aGR\", \"progbits\", .stapsdt.base, comdat",
            ".weak _.stapsdt.base",
            ".hidden _.stapsdt.base",
            "_.stapsdt.base: .space 1",
            ".size _.stapsdt.base, 1",
            ".popsection",
            ".endif",
            $($operand)*
            options(readonly, nostack, preserves_flags),
        )
    };
}

#[inline(never)]
fn alloc(address: usize, size: u64, weighted_bytes: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: an instruction that does nothing.
    unsafe {
        probe!("alloc", "8@%rdi 8@%rsi 8@%rdx",
            in("rdi") address, in("rsi") size, in("rdx") weighted_bytes,);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        probe!("alloc", "8@x0 8@x1 8@x2", in("x0") address, in("x1") size, in("x2") weighted_bytes,);
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = (address, size, weighted_bytes);
}

#[inline(never)]
fn free(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above.
    unsafe {
        probe!("free", "8@%rdi", in("rdi") address,);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        probe!("free", "8@x0", in("x0") address,);
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
