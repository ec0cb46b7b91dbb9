//! Units and ids. No bare `u64` crosses a module boundary.

/// A number of machine words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Words(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Words {
    /// The same amount in bytes; every OCaml that is recorded has words of eight.
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0.saturating_mul(8))
    }
}

/// A block of a snapshot: its place in the order of addresses, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub u32);

/// A label of roots: its place among the labels of a snapshot, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// Where something stood in the target's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);
