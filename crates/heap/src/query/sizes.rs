//! Memory inside OCaml's heap, and off-heap memory that belongs to it.

use std::ops::AddAssign;

use crate::units::Bytes;

/// Bytes in the heap, and off-heap bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) heap: Bytes,
    pub(super) external: Bytes,
}

impl Sizes {
    /// Sum of both. Lists are in the order of this sum: a bigarray's few words in the heap say nothing of its size.
    pub(super) fn all(self) -> Bytes {
        self.heap + self.external
    }
}

impl From<[Bytes; 2]> for Sizes {
    fn from([heap, external]: [Bytes; 2]) -> Self {
        Self { heap, external }
    }
}

impl AddAssign for Sizes {
    fn add_assign(&mut self, more: Self) {
        self.heap += more.heap;
        self.external += more.external;
    }
}
