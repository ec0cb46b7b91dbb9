//! Which pages of the copy are there: what was reserved and never touched has no references, and is not touched here.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::areas::Area;

const PAGE: u64 = 4096;
const ENTRIES: usize = 512;
/// Bits of `pagemap`: the page is in memory, or swapped.
const IS_THERE: u64 = 3 << 62;

/// The kernel's list of pages.
pub(crate) struct Pages {
    file: Option<File>,
    /// The entries of pages from this one on.
    first: u64,
    entries: [u64; ENTRIES],
}

impl Pages {
    pub(crate) fn of_this_process() -> Self {
        let file = File::open("/proc/self/pagemap").ok();
        Self { file, first: u64::MAX, entries: [0; ENTRIES] }
    }

    /// Whether a page is there; all are where the kernel does not tell.
    pub(crate) fn is_there(&mut self, page: u64) -> bool {
        let Some(file) = &self.file else { return true };
        let first = page / ENTRIES as u64 * ENTRIES as u64;
        if first != self.first {
            let mut bytes = [0; ENTRIES * 8];
            if file.read_exact_at(&mut bytes, first * 8).is_err() {
                self.file = None;
                return true;
            }
            for (entry, bytes) in self.entries.iter_mut().zip(bytes.as_chunks().0) {
                *entry = u64::from_le_bytes(*bytes);
            }
            self.first = first;
        }
        self.entries[(page - first) as usize] & IS_THERE != 0
    }

    /// Calls a function with each part of an area whose page is there, in order.
    pub(crate) fn each(&mut self, area: &Area, mut see: impl FnMut(Area)) {
        let mut start = area.start;
        while start < area.end {
            let end = (start / PAGE + 1).saturating_mul(PAGE).min(area.end);
            if self.is_there(start / PAGE) {
                see(start..end);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_not_touched_are_passed_over() {
        let mut memory = vec![0_u8; 4 << 20];
        memory[2 << 20] = 1;
        let start = memory.as_ptr().addr() as u64;
        let mut seen = Vec::new();
        Pages::of_this_process().each(&(start..start + (4 << 20)), |part| seen.push(part));
        let bytes: u64 = seen.iter().map(|part| part.end - part.start).sum();
        assert!(seen.iter().any(|part| part.contains(&(start + (2 << 20)))), "{bytes}");
    }
}
