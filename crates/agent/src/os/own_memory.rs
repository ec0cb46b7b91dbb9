//! Private memory of ours, as far as it may hold addresses of the program's blocks, or what looks like them: who looks for
//! references in a copy of the process leaves it out.

use std::ops::Range;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// Mappings that are known, at most. Of the usual allocator's each has 64 KiB or more.
const MAX_MAPPINGS: usize = 1 << 13;

/// A mapping: where it begins, [`FREE`] or [`TAKEN`], and its bytes.
struct OwnMapping {
    start: AtomicUsize,
    bytes: AtomicUsize,
}

/// No mapping.
const FREE: usize = 0;
/// One that is being noted.
const TAKEN: usize = 1;

struct OwnMappings {
    mappings: [OwnMapping; MAX_MAPPINGS],
    /// Those from this one on were never used.
    used: AtomicUsize,
}

static OWN_MAPPINGS: OwnMappings = OwnMappings::new();

impl OwnMappings {
    #[expect(clippy::large_stack_arrays, reason = "evaluated at compile time, for a static")]
    const fn new() -> Self {
        Self {
            mappings: [const { OwnMapping { start: AtomicUsize::new(FREE), bytes: AtomicUsize::new(0) } };
                MAX_MAPPINGS],
            used: AtomicUsize::new(0),
        }
    }

    fn add(&self, start: usize, bytes: usize) {
        let is_taken = |mapping: &OwnMapping| {
            mapping.start.load(Relaxed) == FREE
                && mapping.start.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok()
        };
        // Where there is no room any more, the memory counts as the program's.
        let Some(number) = self.mappings.iter().position(is_taken) else { return };
        self.used.fetch_max(number + 1, Relaxed);
        let mapping = &self.mappings[number];
        mapping.bytes.store(bytes, Relaxed);
        mapping.start.store(start, Release);
    }

    /// Mappings that follow each other may be unmapped at once, or in part.
    fn remove(&self, gone: &Range<usize>) {
        for mapping in self.mappings.iter().take(self.used.load(Relaxed)) {
            let start = mapping.start.load(Relaxed);
            let end = start.saturating_add(mapping.bytes.load(Relaxed));
            if start <= TAKEN || start >= gone.end || end <= gone.start {
                continue;
            }
            if start < gone.start {
                // What may be left behind counts as the program's.
                mapping.bytes.store(gone.start - start, Relaxed);
            } else if end <= gone.end {
                mapping.start.store(FREE, Release);
            } else {
                mapping.bytes.store(end - gone.end, Relaxed);
                mapping.start.store(gone.end, Release);
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = Range<u64>> {
        self.mappings.iter().take(self.used.load(Relaxed)).filter_map(|mapping| {
            let start = mapping.start.load(Acquire);
            let end = start.saturating_add(mapping.bytes.load(Relaxed));
            (start > TAKEN).then_some(start as u64..end as u64)
        })
    }
}

/// Memory was mapped.
pub(crate) fn add(start: *mut u8, bytes: usize) {
    OWN_MAPPINGS.add(start.addr(), bytes);
}

/// Memory will be unmapped.
pub(crate) fn remove(start: *mut u8, bytes: usize) {
    OWN_MAPPINGS.remove(&(start.addr()..start.addr().saturating_add(bytes)));
}

/// All of it, in no order.
pub(crate) fn all() -> impl Iterator<Item = Range<u64>> {
    OWN_MAPPINGS.all()
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of areas")]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_known_until_it_is_unmapped() {
        let mappings = Box::new(OwnMappings::new());
        let known = || mappings.all().collect::<Vec<_>>();
        mappings.add(0x1000, 0x1000);
        mappings.add(0x5000, 0x3000);
        assert_eq!(known(), [0x1000..0x2000, 0x5000..0x8000]);
        mappings.remove(&(0x6000..0x8000));
        mappings.remove(&(0x1000..0x2000));
        assert_eq!(known(), [0x5000..0x6000]);
        mappings.add(0x9000, 0x1000);
        mappings.add(0x6000, 0x2000);
        assert_eq!(known(), [0x9000..0xa000, 0x5000..0x6000, 0x6000..0x8000]);
        // Two that follow each other, but for the end of the second.
        mappings.remove(&(0x5000..0x7000));
        assert_eq!(known(), [0x9000..0xa000, 0x7000..0x8000]);
        for number in 2..2 * MAX_MAPPINGS {
            mappings.add(number << 16, 1);
        }
        assert_eq!(known().len(), MAX_MAPPINGS);
    }
}
