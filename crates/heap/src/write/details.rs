//! What only the runtime knows, asked while the heap is walked.

/// A function, by its code pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name, as the program's symbols or debug information have it.
    pub name: Vec<u8>,
    /// Its source file.
    pub file: Vec<u8>,
    /// The line it starts at, 0 if unknown.
    pub line: u32,
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
    /// The function at a code pointer. Asked once for each; left empty where it is not known.
    fn function(&mut self, code: u64, into: &mut Function);
    /// Every value on the stacks that a continuation holds. Asked twice for each, and must say
    /// the same both times.
    fn continuation(&mut self, block: u64, words: &[u64], each: &mut dyn FnMut(u64));
    /// How long the target was paused, in nanoseconds; 0 if that is not known. Asked once, when all
    /// blocks are written: the target has long gone on by then, and says how long it took.
    fn pause(&mut self) -> u64;
}
