//! How large memory is that glibc's `malloc` gave out, read from the header in front of it.
//!
//! Programs may have another allocator, whose memory has no such header: what is there is believed
//! only if all that must be so of a header and its chunk is so.

use memtrail_ocaml::Memory;

use super::mapped::Mapped;

/// The lowest bits of a chunk's size: the chunk before is in use, it was mapped by itself, it is in
/// an arena of a thread's.
const PREVIOUS_IN_USE: u64 = 1;
const MAPPED: u64 = 2;
const FLAGS: u64 = 7;

const WORD: u64 = 8;
/// Sizes of chunks are multiples of this.
const ALIGNMENT: u64 = 16;
const SMALLEST: u64 = 32;
const PAGE: u64 = 4096;

/// The bytes that were asked for, of which `used` are known to be in use: these, if memory for them
/// would be as large, otherwise as many as there is room for. `None` if `data` is not glibc's.
pub(super) fn size(memory: &impl Memory, mapped: &Mapped, data: u64, used: u64) -> Option<u64> {
    let chunk = data.checked_sub(2 * WORD)?;
    if !data.is_multiple_of(ALIGNMENT) || !mapped.covers(chunk, 2 * WORD) {
        return None;
    }
    let head = memory.u64(chunk + WORD)?;
    let size = head & !FLAGS;
    let (room, needed) = if head & FLAGS == MAPPED {
        let is_mapped = chunk.is_multiple_of(PAGE)
            && size.is_multiple_of(PAGE)
            && memory.u64(chunk) == Some(0)
            && mapped.covers(chunk, size);
        (is_mapped.then(|| size.checked_sub(2 * WORD))??, of_mapped_chunk(used)?)
    } else {
        let next = chunk.checked_add(size)?;
        let is_chunk = head & MAPPED == 0
            && size >= SMALLEST
            && size.is_multiple_of(ALIGNMENT)
            && mapped.covers(chunk, size.checked_add(2 * WORD)?)
            && memory.field(next, WORD)? & PREVIOUS_IN_USE != 0;
        (is_chunk.then(|| size.checked_sub(WORD))??, of_chunk(used)?)
    };
    match used {
        used if used > room => None,
        used if needed == size => Some(used),
        _ => Some(room),
    }
}

/// The size of a chunk for so many bytes.
fn of_chunk(bytes: u64) -> Option<u64> {
    Some(bytes.checked_add(WORD)?.checked_next_multiple_of(ALIGNMENT)?.max(SMALLEST))
}

/// The same of one that is mapped by itself.
fn of_mapped_chunk(bytes: u64) -> Option<u64> {
    of_chunk(bytes)?.checked_add(WORD)?.checked_next_multiple_of(PAGE)
}

#[cfg(test)]
mod tests {
    use memtrail_ocaml::memory::Image;

    use super::*;

    const BASE: u64 = 0x10_0000;

    /// Two pages, with a chunk at the first byte.
    fn size_of(words: &[(u64, u64)], used: u64) -> Option<u64> {
        let mut bytes = vec![0; 0x2000];
        for (at, word) in words {
            bytes[*at as usize..][..8].copy_from_slice(&word.to_le_bytes());
        }
        let mapped = Mapped::read(b"100000-102000 rw-p 00000000 00:00 0 \n");
        size(&Image { base: BASE, bytes: &bytes }, &mapped, BASE + 16, used)
    }

    #[test]
    fn a_chunk_is_as_large_as_its_header_says() {
        let chunk = [(8, 0x1000 | 1), (0x1008, 0x21)];
        assert_eq!(size_of(&chunk, 10), Some(0xff8));
        assert_eq!(size_of(&chunk, 0xff2), Some(0xff2));
        assert_eq!(size_of(&chunk, 0xff9), None);
        let mapped = [(8, 0x2000 | 2)];
        assert_eq!(size_of(&mapped, 10), Some(0x1ff0));
        assert_eq!(size_of(&mapped, 0x1500), Some(0x1500));
    }

    #[test]
    fn what_is_no_header_is_not_believed() {
        // The next chunk does not know of this one; sizes that are none; not all is mapped.
        for words in [
            &[(8, 0x1001), (0x1008, 0x20)][..],
            &[(8, 0x1009), (0x1010, 0x21)],
            &[(8, 0x11), (0x18, 0x21)],
            &[(8, 0x4001)],
            &[(8, 0x3002)],
            &[(8, 0x2002), (0, 16)],
            &[(8, u64::MAX)],
        ] {
            assert_eq!(size_of(words, 10), None, "{words:x?}");
        }
    }
}
