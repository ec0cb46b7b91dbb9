//! OCaml 4: the major heap's chunks and the minor heap (`runtime/memory.c`, `runtime/caml/major_gc.h`).

use super::Extent;
use super::lap::Lap;
use crate::block::{FREE_SINGLE, wosize};
use crate::layout::{Layout, SingleState};
use crate::memory::{Address, Memory};
use crate::version::Version;

/// The colour of free blocks.
pub const FREE: u8 = FREE_SINGLE;

/// Fields of `heap_chunk_head`, which stands just below a chunk.
const SIZE: u64 = 16;
const NEXT: u64 = 24;
/// Chunks are whole pages.
const PAGE: u64 = 4096;

/// Bytes of `heap_chunk_head`; `None` for OCaml 5, which has no chunks.
const fn head(version: Version) -> Option<u64> {
    match version {
        Version::V4_11 => Some(32),
        Version::V4_12 | Version::V4_13 => Some(48),
        Version::V4_14 => Some(56),
        _ => None,
    }
}

/// The chunks, in the order of their list.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a, M> {
    memory: &'a M,
    head: u64,
    next: Address,
    lap: Lap,
}

impl<'a, M: Memory> Chunks<'a, M> {
    /// `variable` is the address of `caml_heap_start`.
    pub fn new(memory: &'a M, version: Version, variable: Address) -> Option<Self> {
        Some(Self {
            memory,
            head: head(version)?,
            next: memory.u64(variable)?,
            lap: Lap::default(),
        })
    }
}

impl<M: Memory> Iterator for Chunks<'_, M> {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        if self.next == 0 {
            return None;
        }
        self.lap.step(self.next)?;
        let (start, head) = (self.next, self.next.checked_sub(self.head)?);
        let bytes = self.memory.field(head, SIZE)?;
        self.next = self.memory.field(head, NEXT)?;
        let sane = start.is_multiple_of(8) && bytes != 0 && bytes.is_multiple_of(PAGE);
        if !sane {
            self.next = start;
            return None;
        }
        Some(Extent { start, bytes })
    }
}

/// Number of chunks in the list whose variable is at `variable`; `None` if it is no list. Chunks ascend, the last one has no
/// next, and the first blocks of each chunk add up.
pub fn count(memory: &impl Memory, version: Version, variable: Address) -> Option<usize> {
    let mut chunks = Chunks::new(memory, version, variable)?;
    let (mut count, mut end) = (0, 0);
    for chunk in chunks.by_ref() {
        if chunk.start < end || !blocks_add_up(memory, chunk) {
            return None;
        }
        end = chunk.start.checked_add(chunk.bytes)?;
        count += 1;
    }
    (chunks.next == 0 && count > 0).then_some(count)
}

/// Blocks of a chunk that are looked at.
const BLOCKS: usize = 4096;

fn blocks_add_up(memory: &impl Memory, chunk: Extent) -> bool {
    let end = chunk.start.saturating_add(chunk.bytes);
    let mut at = chunk.start;
    for _ in 0..BLOCKS {
        let Some(header) = memory.u64(at) else { return false };
        at = at.saturating_add(8 * (wosize(header) + 1));
        if at >= end {
            return at == end;
        }
    }
    true
}

/// The part of the minor heap that holds blocks. The state must have been saved: C runs.
pub fn minor(
    memory: &impl Memory,
    layout: &Layout,
    fields: &SingleState,
    state: Address,
) -> Option<Extent> {
    let pointer = memory.field(state, layout.state.young_ptr)?;
    Extent::between(pointer, memory.field(state, fields.young_alloc_end)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    /// Two chunks of one and two pages, the second's head just above the first.
    fn heap(version: Version, size_of_second: u64) -> (Vec<u8>, u64, Option<u64>) {
        let head = head(version).expect("has chunks");
        let mut bytes = vec![0; 8 * PAGE as usize];
        let mut set = |at: u64, value: u64| {
            bytes[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
        };
        let base = 0x10_0000;
        let (first, second) = (PAGE, 3 * PAGE);
        set(0, base + first);
        set(first - head + SIZE, PAGE);
        set(first - head + NEXT, base + second);
        set(second - head + SIZE, size_of_second);
        (bytes, base, Some(head))
    }

    const WITH_CHUNKS: [Version; 4] =
        [Version::V4_11, Version::V4_12, Version::V4_13, Version::V4_14];

    #[test]
    fn chunks_are_followed_to_the_last() {
        for version in WITH_CHUNKS {
            let (bytes, base, _) = heap(version, 2 * PAGE);
            let memory = Image { base, bytes: &bytes };
            let chunks: Vec<_> = Chunks::new(&memory, version, base).expect("chunks").collect();
            let expected = [
                Extent { start: base + PAGE, bytes: PAGE },
                Extent { start: base + 3 * PAGE, bytes: 2 * PAGE },
            ];
            assert_eq!(chunks, expected, "{version}");
        }
    }

    #[test]
    fn what_is_no_chunk_ends_the_list() {
        let (bytes, base, _) = heap(Version::V4_13, 17);
        let memory = Image { base, bytes: &bytes };
        let chunks = Chunks::new(&memory, Version::V4_13, base).expect("chunks");
        assert_eq!(chunks.count(), 1);
        assert!(Chunks::new(&memory, Version::V5_3, base).is_none());
    }
}
