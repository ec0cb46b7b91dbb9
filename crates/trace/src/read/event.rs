//! What a reader hands out.

use crate::info::Source;
use crate::units::{BlockId, Code, DomainId, StackId, Timestamp, Words};

/// Something that happened to a sampled block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// It was allocated.
    Alloc(Alloc<'a>),
    /// It survived a minor collection and moved to the major heap.
    Promote(Mark),
    /// It was found dead.
    Collect(Mark),
}

/// A sampled allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alloc<'a> {
    /// When.
    pub time: Timestamp,
    /// Which block.
    pub id: BlockId,
    /// Domain that allocated it.
    pub domain: DomainId,
    /// Its size, the header not counted.
    pub length: Words,
    /// How many of its words were sampled, at least one. Weigh blocks by it: `samples / rate`
    /// words is an unbiased estimate, `length` is not.
    pub samples: u64,
    /// Number of times that the trace's rate was halved for it, if the trace itself says so. A list beside the trace may
    /// tell for others.
    pub halvings: Option<u8>,
    /// Where it was allocated.
    pub source: Source,
    /// The call sites, outermost first; empty with [`Detail::Marks`].
    pub backtrace: &'a [Code],
    /// How many frames, from the outermost on, are known to equal those of the previous
    /// allocation of this domain. At most the backtrace's length.
    pub common_prefix: usize,
    /// The backtrace in the tree; the root unless [`Detail::Stacks`].
    pub stack: StackId,
    /// The domain's packets are damaged before this one, so frames may be wrong.
    pub suspect: bool,
}

/// A later event of a sampled block. Nothing says that the block exists: a damaged trace may tell
/// of the end of a block whose beginning is lost, or tell it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub time: Timestamp,
    /// Which block.
    pub id: BlockId,
    /// The domain that says so: the one that allocated it unless that has ended.
    pub domain: DomainId,
}

/// How much a reader decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// No backtraces: their bytes are skipped. What they might show to be damaged is not noticed.
    Marks,
    /// Backtraces as slices of codes.
    Codes,
    /// Backtraces as slices of codes and as nodes of a tree.
    Stacks,
}
