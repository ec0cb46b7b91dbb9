//! Custom blocks: their identifier, and the memory outside the heap that they stand for
//! (`runtime/caml/custom.h`, `runtime/caml/bigarray.h`, `runtime/caml/io.h`).

use crate::memory::{Address, Memory};

/// Bigarrays.
pub const BIGARRAY: &[u8] = b"_bigarr02";
/// Channels.
pub const CHANNEL: &[u8] = b"_chan";

/// `IO_BUFFER_SIZE`: what a channel's structure mostly is.
const CHANNEL_BYTES: u64 = 1 << 16;

/// The identifier of custom operations, as much as fits.
pub fn identifier<'a>(memory: &impl Memory, operations: Address, into: &'a mut [u8]) -> &'a [u8] {
    memory.u64(operations).and_then(move |name| memory.c_string(name, into)).unwrap_or_default()
}

/// Bytes outside the heap that a custom block stands for, `block` being its field 0. What is not
/// known is 0.
///
/// Bigarrays that are views of others share their memory: it is counted where it begins.
pub fn outside(memory: &impl Memory, identifier: &[u8], block: Address) -> u64 {
    match identifier {
        BIGARRAY => bigarray(memory, block).unwrap_or(0),
        CHANNEL => CHANNEL_BYTES,
        _ => 0,
    }
}

/// `struct caml_ba_array`, behind the block's operations.
mod field {
    pub(super) const DATA: u64 = 8;
    pub(super) const DIMENSIONS: u64 = 16;
    pub(super) const FLAGS: u64 = 24;
    pub(super) const PROXY: u64 = 32;
    pub(super) const FIRST: u64 = 40;
    /// In `struct caml_ba_proxy`.
    pub(super) const PROXY_DATA: u64 = 8;
}

const KIND: u64 = 0xFF;
/// Who owns the memory; 0 is C code.
const MANAGED: u64 = 0x600;
const MOST_DIMENSIONS: u64 = 16;

/// Bytes of an element by kind: floats, integers from 8 bits to native, complex, char, half float.
const ELEMENT: [u64; 14] = [4, 8, 1, 1, 2, 2, 4, 8, 8, 8, 8, 16, 1, 2];

fn bigarray(memory: &impl Memory, block: Address) -> Option<u64> {
    let flags = memory.field(block, field::FLAGS)?;
    if flags & MANAGED == 0 {
        return Some(0);
    }
    let proxy = memory.field(block, field::PROXY)?;
    if proxy != 0 && memory.field(proxy, field::PROXY_DATA)? != memory.field(block, field::DATA)? {
        return Some(0);
    }
    let dimensions = memory.field(block, field::DIMENSIONS)?;
    if dimensions > MOST_DIMENSIONS {
        return None;
    }
    let mut bytes = *ELEMENT.get((flags & KIND) as usize)?;
    for dimension in 0..dimensions {
        bytes = bytes.checked_mul(memory.field(block, field::FIRST + 8 * dimension)?)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x8000;

    fn outside_of(words: &[u64]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        outside(&Image { base: BASE, bytes: &bytes }, BIGARRAY, BASE)
    }

    #[test]
    fn a_bigarray_is_as_large_as_its_dimensions_say() {
        // 3 x 100 doubles, allocated by the runtime.
        assert_eq!(outside_of(&[0, 0x7000, 2, 0x201, 0, 3, 100]), 2400);
        // The same, owned by C code.
        assert_eq!(outside_of(&[0, 0x7000, 2, 0x001, 0, 3, 100]), 0);
        // An unknown kind, dimensions that are none, memory that ends.
        assert_eq!(outside_of(&[0, 0x7000, 1, 0x2ff, 0, 3]), 0);
        assert_eq!(outside_of(&[0, 0x7000, 99, 0x201, 0, 3]), 0);
        assert_eq!(outside_of(&[0, 0x7000, 2, 0x201, 0, 3]), 0);
        assert_eq!(outside_of(&[0, 0x7000, 2, 0x201, 0, 1 << 40, 1 << 40]), 0);
    }

    #[test]
    fn shared_memory_counts_once() {
        let proxy = BASE + 6 * 8;
        assert_eq!(outside_of(&[0, 0x7000, 1, 0x203, proxy, 9, 2, 0x7000, 0]), 9);
        assert_eq!(outside_of(&[0, 0x7004, 1, 0x203, proxy, 9, 2, 0x7000, 0]), 0);
    }

    #[test]
    fn identifiers_are_c_strings() {
        let mut bytes = vec![0; 16];
        bytes[..8].copy_from_slice(&(BASE + 8).to_le_bytes());
        bytes[8..13].copy_from_slice(b"_chan");
        let memory = Image { base: BASE, bytes: &bytes };
        assert_eq!(identifier(&memory, BASE, &mut [0; 16]), CHANNEL);
        assert_eq!(outside(&memory, CHANNEL, BASE), 1 << 16);
        assert_eq!(identifier(&memory, 0x10, &mut [0; 16]), b"");
    }
}
