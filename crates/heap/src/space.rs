//! The parts of memory that blocks are in.

/// What a piece of memory belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Space {
    /// The major heap.
    Major = 0,
    /// A minor heap.
    Minor = 1,
    /// The program's data.
    Static = 2,
    /// Large blocks of OCaml 5, each allocated by itself.
    Large = 3,
    /// Memory outside the heap that custom blocks share: no region has it.
    OffHeap = 4,
}

impl Space {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::Major, Self::Minor, Self::Static, Self::Large, Self::OffHeap];

    /// Its name, as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
            Self::Static => "static",
            Self::Large => "large",
            Self::OffHeap => "off-heap",
        }
    }
}
