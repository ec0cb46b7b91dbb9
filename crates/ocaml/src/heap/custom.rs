//! Custom blocks: their identifiers, which tell what memory outside the heap they stand for
//! (`runtime/caml/custom.h`, `runtime/caml/io.h`).

use crate::memory::{Address, Memory};

/// Bigarrays: those of memory, and those of mapped files, whose operations have the older name.
pub const BIGARRAYS: [&[u8]; 2] = [b"_bigarr02", b"_bigarray"];
/// Channels.
pub const CHANNEL: &[u8] = b"_chan";

/// The identifier of custom operations, as much as fits.
pub fn identifier<'a>(memory: &impl Memory, operations: Address, into: &'a mut [u8]) -> &'a [u8] {
    memory.u64(operations).and_then(move |name| memory.c_string(name, into)).unwrap_or_default()
}

/// The field of a channel's block that points to its structure. The runtime makes blocks anew for
/// channels that have some, to flush them all.
pub const CHANNEL_FIELD: u64 = 1;

/// `IO_BUFFER_SIZE`: what a channel's structure mostly is.
pub const CHANNEL_BYTES: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x8000;

    #[test]
    fn identifiers_are_c_strings() {
        let mut bytes = vec![0; 16];
        bytes[..8].copy_from_slice(&(BASE + 8).to_le_bytes());
        bytes[8..13].copy_from_slice(b"_chan");
        let memory = Image { base: BASE, bytes: &bytes };
        assert_eq!(identifier(&memory, BASE, &mut [0; 16]), CHANNEL);
        assert_eq!(identifier(&memory, 0x10, &mut [0; 16]), b"");
    }
}
