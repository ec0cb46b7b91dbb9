//! Modules' blocks, whose fields are roots (`caml_globals`, `runtime/roots_nat.c`,
//! `runtime/globroots.c`).

use super::MAX_LIST_LEN;
use crate::block::wosize;
use crate::memory::{Address, Memory};

/// The blocks of all linked units, in the order they were linked; flambda has several a unit.
#[derive(Clone, Copy, Debug)]
pub struct Globals<'a, M> {
    memory: &'a M,
    tables: Address,
    block: Option<Address>,
    left: usize,
}

/// A module's block, or a static block of it that may lead to the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    /// Address of field 0; a symbol of the unit.
    pub block: Address,
    /// How many fields it has.
    pub fields: u64,
}

/// `tables` is the address of `caml_globals`.
pub fn globals<M: Memory>(memory: &M, tables: Address) -> Globals<'_, M> {
    Globals { memory, tables, block: None, left: MAX_LIST_LEN }
}

impl<M: Memory> Iterator for Globals<'_, M> {
    type Item = Global;

    fn next(&mut self) -> Option<Global> {
        loop {
            self.left = self.left.checked_sub(1)?;
            let at = match self.block {
                Some(at) => at,
                None => match self.memory.u64(self.tables)? {
                    0 => return None,
                    table => table,
                },
            };
            let block = self.memory.u64(at)?;
            if block == 0 {
                self.tables = self.tables.checked_add(8)?;
                self.block = None;
                continue;
            }
            self.block = Some(at.checked_add(8)?);
            let fields = wosize(self.memory.u64(block.checked_sub(8)?)?);
            return Some(Global { block, fields });
        }
    }
}

/// Calls `each` with the blocks of units that were loaded, from the address of the list's variable.
pub fn each_loaded(
    memory: &impl Memory,
    variable: Address,
    mut each: impl FnMut(Global),
) -> Option<()> {
    let mut left = MAX_LIST_LEN;
    let mut link = memory.u64(variable)?;
    loop {
        if link == 0 {
            return Some(());
        }
        let mut at = memory.u64(link)?;
        loop {
            left = left.checked_sub(1)?;
            let block = memory.u64(at)?;
            if block == 0 {
                break;
            }
            let fields = wosize(memory.u64(block.checked_sub(8)?)?);
            each(Global { block, fields });
            at = at.checked_add(8)?;
        }
        link = memory.field(link, 8)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::header;
    use crate::memory::Image;

    #[test]
    fn every_table_of_every_unit_is_read() {
        // Two units: one block; none; then two blocks.
        let at = |word: u64| 0x8000 + 8 * word;
        let words = [
            at(4),
            at(6),
            at(7),
            0,
            at(11),
            0,
            0,
            at(13),
            at(15),
            0,
            header(1, 0, 3),
            1,
            header(1, 0, 3),
            1,
            header(2, 0, 3),
            1,
            1,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let memory = Image { base: 0x8000, bytes: &bytes };
        let found: Vec<_> = globals(&memory, 0x8000).map(|g| (g.block, g.fields)).collect();
        assert_eq!(found, [(at(11), 1), (at(13), 1), (at(15), 2)]);
    }
}
