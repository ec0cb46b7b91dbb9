//! Where the runtime keeps its frame tables, which move when code is loaded.

use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::memory::ThisProcess;

/// Where they are.
pub(crate) enum FrameTables {
    /// OCaml 4: addresses of the two variables.
    Variables { descriptors: u64, mask: u64 },
    /// OCaml 5: address of the structure.
    Structure(u64),
}

impl FrameTables {
    /// The table as it is now.
    pub(crate) fn current(&self, memory: ThisProcess) -> Option<FrameTable> {
        match *self {
            Self::Variables { descriptors, mask } => FrameTable::single(&memory, descriptors, mask),
            Self::Structure(at) => FrameTable::multicore(&memory, at),
        }
    }
}
