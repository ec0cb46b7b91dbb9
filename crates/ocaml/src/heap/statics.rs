//! Data that the compiler laid out: constants, closures without environment, modules
//! (`runtime/startup_nat.c`).

use super::{Extent, MAX_LIST_LEN};
use crate::memory::{Address, Memory};

/// Zero-sized blocks, one a tag.
const ATOMS: u64 = 256;

/// The units' data segments, in the order they were linked. Those of natdynlinked units are not
/// among them.
#[derive(Clone, Copy, Debug)]
pub struct Segments<'a, M> {
    memory: &'a M,
    next: Address,
    left: usize,
}

/// `table` is the address of `caml_data_segments`.
pub fn segments<M: Memory>(memory: &M, table: Address) -> Segments<'_, M> {
    Segments { memory, next: table, left: MAX_LIST_LEN }
}

impl<M: Memory> Iterator for Segments<'_, M> {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        self.left = self.left.checked_sub(1)?;
        let start = self.memory.u64(self.next)?;
        if start == 0 {
            return None;
        }
        // The end's own word still belongs to the segment.
        let end = self.memory.field(self.next, 8)?.checked_add(8)?;
        self.next = self.next.checked_add(16)?;
        let bytes = end.checked_sub(start)?;
        // What the linker puts in front of the first block may be unaligned.
        let aligned = start.checked_next_multiple_of(8)?;
        Some(Extent { start: aligned, bytes: bytes.saturating_sub(aligned - start) & !7 })
    }
}

/// The table of zero-sized blocks, which the variable `caml_atom_table` leads to.
pub fn atoms(memory: &impl Memory, variable: Address) -> Option<Extent> {
    let start = memory.u64(variable)?;
    Extent::between(start, start.checked_add(8 * (ATOMS + 1))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    #[test]
    fn segments_end_with_a_zero_and_hold_their_last_word() {
        let words = [0x1000u64, 0x1ff8, 0x3000, 0x3008, 0, 7];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let memory = Image { base: 0x8000, bytes: &bytes };
        let found: Vec<_> = segments(&memory, 0x8000).collect();
        let expected =
            [Extent { start: 0x1000, bytes: 0x1000 }, Extent { start: 0x3000, bytes: 16 }];
        assert_eq!(found, expected);
    }
}
