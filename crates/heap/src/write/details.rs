//! What only the runtime knows, asked while the heap is walked.

use crate::function_lines::Between;

/// A function, by its code pointer. What is not known is empty, or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its symbol, as the linker has it.
    pub symbol: Vec<u8>,
    /// Its name, as people read it.
    pub name: Vec<u8>,
    /// Its source file.
    pub file: Vec<u8>,
    /// The line it starts at, or the first one in it that is known, from 1.
    pub line: u32,
    /// The column in that line, from 0.
    pub column: u32,
    /// Whether it starts there.
    pub is_start: bool,
    /// Without a line: between which lines it starts.
    pub between: Option<Between>,
    /// Whether these are the lines of the class that the compiler made it for.
    pub is_of_class: bool,
}

/// What a custom block holds elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Custom {
    /// Bytes outside the heap that go away with it; `None` if how many is unknown.
    pub external: Option<u64>,
    /// Memory outside that it shares with other custom blocks.
    pub shared: Option<Shared>,
}

/// Where a custom block has the memory outside the heap that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Its field that leads there.
    pub field: u64,
    /// What tells this memory from other: the address of what counts its owners.
    pub owner: u64,
}

/// Memory outside the heap that several custom blocks keep.
#[derive(Clone, Debug, Default)]
pub struct Owned {
    /// How much; `None` if that is unknown.
    pub external: Option<u64>,
    /// What sort of memory.
    pub name: &'static str,
}

/// What only the runtime knows, asked while walking. `block` is the address of a block's first
/// field, `words` are its fields.
pub trait Details {
    /// A custom block; `ops` is its first field. Asked once for each.
    fn custom(&mut self, block: u64, ops: u64, words: &[u64]) -> Custom;
    /// The identifier of custom operations. Asked once for each.
    fn identifier(&mut self, ops: u64, into: &mut Vec<u8>);
    /// The memory that custom blocks share. Asked once for each owner, after all custom blocks.
    fn owned(&mut self, owner: u64) -> Owned;
    /// Whether code is that of partial applications: the closure's last field is what is applied.
    /// Asked once for each code pointer.
    fn is_partial(&mut self, code: u64) -> bool;
    /// The functions at code pointers, in their order. Asked once, when all blocks are written.
    fn functions(&mut self, codes: &[u64], each: &mut dyn FnMut(&Function));
    /// All integers that the program's names stand for: as polymorphic variants, and as `Hashtbl.hash` gives them. Any
    /// may come several times. Asked once, before any block is written.
    fn hashes(&mut self, each: &mut dyn FnMut(i64));
    /// Names in the program whose hash as a polymorphic variant is among `hashes`, which are in
    /// order: the place, and the name. Asked once, when all blocks are written.
    fn variants(&mut self, hashes: &[i64], each: &mut dyn FnMut(usize, &[u8]));
    /// Every value on the stacks that a continuation holds. Asked twice for each, and must say
    /// the same both times.
    fn continuation(&mut self, block: u64, words: &[u64], each: &mut dyn FnMut(u64));
    /// Any block, with its number and all its words. Given once for each, in the order of addresses.
    fn block(&mut self, index: u32, words: &[u64]) {
        let _ = (index, words);
    }
    /// How long the target was paused, in nanoseconds; 0 if that is not known. Asked once, when all
    /// blocks are written: the target has long gone on by then, and says how long it took.
    fn pause(&mut self) -> u64;
}
