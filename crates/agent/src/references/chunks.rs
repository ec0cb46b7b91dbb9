//! The chunks of glibc's `malloc`, by the headers in front of them. Memory whose headers do not add up is left alone: the
//! program may have another allocator.

use std::collections::BTreeMap;

use memtrail_ocaml::Memory;

use super::areas::Area;

/// The lowest bits of a chunk's size: the chunk before is in use, it was mapped by itself.
const PREVIOUS_IN_USE: u64 = 1;
const MAPPED: u64 = 2;
const FLAGS: u64 = 7;

const WORD: u64 = 8;
const HEADER: u64 = 2 * WORD;
const ALIGNMENT: u64 = 16;
const SMALLEST: u64 = 32;
const PAGE: u64 = 4096;
/// Arenas of threads are at multiples of this.
const ARENA: u64 = 64 << 20;
/// Where the first chunk of an arena may be: behind its state, whose size depends on the version.
const FIRST_OF_ARENA: std::ops::Range<u64> = 0x800..0xa00;
const FIRST_OF_HEAP: std::ops::Range<u64> = 0x20..0x60;
/// An arena's last chunks, which hold nothing.
const FENCE: u64 = 0x40;

/// A thread's cache of free chunks: numbers and lists, by size.
const BINS: u64 = 64;
const CACHE: u64 = BINS * 2 + BINS * WORD;
const MAX_CACHED: u16 = 1024;

/// The blocks that are in use, by address, with the address behind each; and the memory that was understood.
#[derive(Default)]
pub(crate) struct Chunks {
    pub(crate) in_use: BTreeMap<u64, u64>,
    pub(crate) areas: Vec<Area>,
}

impl Chunks {
    /// Those of the memory that `brk` gave.
    pub(crate) fn add_heap(&mut self, memory: &impl Memory, area: &Area) {
        let end = self.walk(memory, area.clone());
        self.areas.push(area.start..end);
    }

    /// Those in other memory: arenas of threads, and chunks that were mapped by themselves.
    pub(crate) fn add_anonymous(
        &mut self,
        memory: &impl Memory,
        area: &Area,
        mut is_there: impl FnMut(u64) -> bool,
    ) {
        let mut at = area.start.next_multiple_of(PAGE);
        while at < area.end {
            let end = if is_there(at / PAGE) {
                let arena = at.is_multiple_of(ARENA).then(|| self.add_arena(memory, at, area.end));
                arena.flatten().or_else(|| self.add_mapped(memory, at, area.end))
            } else {
                None
            };
            if let Some(end) = end {
                self.areas.push(at..end);
            }
            at = end.unwrap_or(at + PAGE).next_multiple_of(PAGE);
        }
    }

    /// An arena's heap: its state if it is the first, chunks up to its size.
    fn add_arena(&mut self, memory: &impl Memory, start: u64, limit: u64) -> Option<u64> {
        let state = memory.u64(start)?;
        let size = memory.field(start, 2 * WORD)?;
        let end = start.checked_add(size).filter(|&end| size > 0 && end <= limit)?;
        if !size.is_multiple_of(PAGE) || size > ARENA {
            return None;
        }
        let is_first = state.wrapping_sub(start) < 0x100;
        let firsts = if is_first { FIRST_OF_ARENA } else { FIRST_OF_HEAP };
        firsts.step_by(ALIGNMENT as usize).find_map(|first| {
            let mut found = Self::default();
            let reached = found.walk(memory, start.checked_add(first)?..end);
            (reached.saturating_add(FENCE) >= end && !found.in_use.is_empty()).then(|| {
                self.in_use.append(&mut found.in_use);
                end
            })
        })
    }

    /// A chunk that was mapped by itself.
    fn add_mapped(&mut self, memory: &impl Memory, start: u64, limit: u64) -> Option<u64> {
        let head = memory.field(start, WORD)?;
        let size = head & !FLAGS;
        let end = start.checked_add(size).filter(|&end| end <= limit)?;
        let is_chunk = head & FLAGS == MAPPED
            && size.is_multiple_of(PAGE)
            && size > 0
            && memory.u64(start) == Some(0);
        is_chunk.then(|| {
            self.in_use.insert(start + HEADER, end);
            end
        })
    }

    /// Chunks one after the other; gives where the last one that makes sense ends.
    fn walk(&mut self, memory: &impl Memory, area: Area) -> u64 {
        let mut at = area.start;
        while at.saturating_add(HEADER) <= area.end {
            let Some(head) = memory.field(at, WORD) else { break };
            let size = head & !FLAGS;
            let is_chunk = head & MAPPED == 0 && size >= SMALLEST && size.is_multiple_of(ALIGNMENT);
            let Some(next) = at.checked_add(size).filter(|&next| is_chunk && next <= area.end)
            else {
                break;
            };
            // The last one is what is left of the area, and the header of the next one is of its end.
            if next.saturating_add(HEADER) <= area.end
                && memory.field(next, WORD).is_some_and(|head| head & PREVIOUS_IN_USE != 0)
            {
                self.in_use.insert(at + HEADER, next + WORD);
            }
            at = next;
        }
        at
    }

    /// Takes chunks out that are free, and wait in a thread's cache for the next block of their size: what they hold is
    /// of no use.
    pub(crate) fn remove_cached(&mut self, memory: &impl Memory) {
        let caches: Vec<u64> = self
            .in_use
            .iter()
            .filter(|&(start, end)| end - start == CACHE + WORD)
            .map(|(start, _)| *start)
            .collect();
        for cache in caches {
            for chunk in self.cached(memory, cache).unwrap_or_default() {
                self.in_use.remove(&chunk);
            }
        }
    }

    /// Takes chunks out that are memory of some areas, which are in order and do not overlap.
    pub(crate) fn remove(&mut self, areas: &[Area]) {
        self.in_use.retain(|&start, &mut end| {
            let next = areas.partition_point(|area| area.end <= start);
            areas.get(next).is_none_or(|area| area.start >= end)
        });
    }

    /// The chunks in a cache, if it is one.
    fn cached(&self, memory: &impl Memory, cache: u64) -> Option<Vec<u64>> {
        let mut all = Vec::new();
        for bin in 0..BINS {
            let count = memory.u16(cache + bin * 2)?;
            let mut chunk = memory.u64(cache + BINS * 2 + bin * WORD)?;
            if count > MAX_CACHED || (count == 0) != (chunk == 0) {
                return None;
            }
            for _ in 0..count {
                let end = self.in_use.get(&chunk)?;
                if end - chunk != SMALLEST - WORD + bin * ALIGNMENT {
                    return None;
                }
                all.push(chunk);
                // The next one's address is stored with bits of where it is stored.
                chunk = memory.u64(chunk)? ^ (chunk >> 12);
            }
        }
        Some(all)
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of areas")]
mod tests {
    use memtrail_ocaml::memory::Image;

    use super::*;

    const BASE: u64 = 0x10_0000;

    fn image(words: &[(u64, u64)], size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        for (at, word) in words {
            bytes[*at as usize..][..8].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn chunks_follow_each_other_and_the_last_one_is_free() {
        // In use, free, in use, and what is left.
        let words = [(0x8, 0x21), (0x28, 0x31), (0x58, 0x40), (0x98, 0xf71)];
        let bytes = image(&words, 0x1000);
        let mut found = Chunks::default();
        found.add_heap(&Image { base: BASE, bytes: &bytes }, &(BASE..BASE + 0x1000));
        let blocks: Vec<_> = found.in_use.into_iter().collect();
        assert_eq!(blocks, [(BASE + 0x10, BASE + 0x28), (BASE + 0x60, BASE + 0x98)]);
        assert_eq!(found.areas, [BASE..BASE + 0x1000]);
    }

    #[test]
    fn what_makes_no_sense_ends_the_heap() {
        let bytes = image(&[(0x8, 0x21), (0x28, 0x31), (0x58, 0x13)], 0x1000);
        let mut found = Chunks::default();
        found.add_heap(&Image { base: BASE, bytes: &bytes }, &(BASE..BASE + 0x1000));
        assert_eq!(found.areas, [BASE..BASE + 0x50]);
    }

    #[test]
    fn a_chunk_may_have_pages_of_its_own() {
        let bytes = image(&[(0x1008, 0x2002), (0x3008, 0x1002), (0x3000, 1)], 0x4000);
        let mut found = Chunks::default();
        let area = BASE..BASE + 0x4000;
        found.add_anonymous(&Image { base: BASE, bytes: &bytes }, &area, |_| true);
        let blocks: Vec<_> = found.in_use.into_iter().collect();
        assert_eq!(blocks, [(BASE + 0x1010, BASE + 0x3000)]);
        assert_eq!(found.areas, [BASE + 0x1000..BASE + 0x3000]);
    }

    #[test]
    fn free_chunks_of_a_cache_are_not_in_use() {
        let cached = BASE + 0x2a0;
        let second = BASE + 0x2c0;
        let words = [
            (0x8, 0x291),
            // One list, of two chunks of the smallest size.
            (0x10, 2),
            (0x90, cached),
            (0x298, 0x21),
            (0x2a0, second ^ (cached >> 12)),
            (0x2b8, 0x21),
            (0x2c0, second >> 12),
            (0x2d8, 0x21),
            (0x2f8, 0xd09),
        ];
        let bytes = image(&words, 0x1000);
        let memory = Image { base: BASE, bytes: &bytes };
        let mut found = Chunks::default();
        found.add_heap(&memory, &(BASE..BASE + 0x1000));
        assert_eq!(found.in_use.len(), 4);
        found.remove_cached(&memory);
        let blocks: Vec<_> = found.in_use.into_keys().collect();
        assert_eq!(blocks, [BASE + 0x10, BASE + 0x2e0]);
    }
}
