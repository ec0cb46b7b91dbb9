//! Codes of call sites, as the trace has them.

use memtrail_trace::{Code, omitted};

/// Call sites are named by their return address, or for one of several blocks allocated at once by
/// the address of its debug information.
pub(crate) fn code_of_return_address(pc: u64) -> Code {
    Code(pc << 1)
}

/// The code of one of several blocks allocated at once.
pub(crate) fn code_of_debuginfo(at: u64) -> Code {
    Code(at << 1 | 1)
}

/// Stands for a callstack that is not known any more.
pub(crate) static LOST: [Code; 1] = [omitted::code(0)];
