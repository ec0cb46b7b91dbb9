//! A jump to any address, as code.

/// Bytes that the jump takes.
#[cfg(target_arch = "x86_64")]
pub(crate) const FAR_JUMP: usize = 14;
#[cfg(target_arch = "aarch64")]
pub(crate) const FAR_JUMP: usize = 16;

/// A jump to `to`.
#[cfg(target_arch = "x86_64")]
pub(crate) fn far_jump(to: u64) -> [u8; FAR_JUMP] {
    // jmp *0(%rip); .quad to: changes no register.
    let mut code = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    code[6..].copy_from_slice(&to.to_le_bytes());
    code
}

/// A jump to `to`.
#[cfg(target_arch = "aarch64")]
pub(crate) fn far_jump(to: u64) -> [u8; FAR_JUMP] {
    // ldr x16, #8; br x16; .quad to: x16 is free at any call.
    let mut code = [0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6, 0, 0, 0, 0, 0, 0, 0, 0];
    code[8..].copy_from_slice(&to.to_le_bytes());
    code
}
