//! Where the runtime keeps its frame tables, which move when code is loaded.

use std::ffi::c_int;

use memtrail_ocaml::frames::FrameTable;
use memtrail_ocaml::memory::ThisProcess;

/// Where they are.
pub(crate) enum FrameTables {
    /// OCaml 4: addresses of the two variables.
    Variables { descriptors: u64, mask: u64 },
    /// OCaml 5.3 and later: address of the structure.
    Structure(u64),
    /// OCaml 5.1 and 5.2: the function that gives the structure.
    Given(unsafe extern "C" fn() -> GivenTable),
    /// OCaml 5.0: the same, for a smaller structure.
    GivenPair(unsafe extern "C" fn() -> GivenPair),
}

/// `caml_frame_descrs` of 5.1 and 5.2 (`runtime/caml/frame_descriptors.h`).
#[repr(C)]
pub(crate) struct GivenTable {
    count: c_int,
    mask: c_int,
    descriptors: u64,
    tables: u64,
}

/// `caml_frame_descrs` of 5.0.
#[repr(C)]
pub(crate) struct GivenPair {
    descriptors: u64,
    mask: c_int,
}

impl FrameTables {
    /// The table as it is now.
    pub(crate) fn current(&self, memory: ThisProcess) -> Option<FrameTable> {
        match *self {
            Self::Variables { descriptors, mask } => FrameTable::single(&memory, descriptors, mask),
            Self::Structure(at) => FrameTable::multicore(&memory, at),
            Self::Given(get) => {
                // SAFETY: the function reads a variable of the runtime's, which code that is loaded changes
                // while all domains are stopped.
                let table = unsafe { get() };
                FrameTable::given(table.descriptors, table.mask)
            }
            Self::GivenPair(get) => {
                // SAFETY: as above; a lock that it may take is held for as long as memory is freed.
                let table = unsafe { get() };
                FrameTable::given(table.descriptors, table.mask)
            }
        }
    }
}
