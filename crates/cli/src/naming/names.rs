//! The names of a trace's codes.

use std::fmt::Debug;
use std::ops::Range;

use memtrail_trace::{Code, Location};

/// Functions and positions at the codes of a trace.
pub(super) trait Names: Debug + Send {
    /// Looks codes up that have not been met.
    fn resolve(&mut self, codes: &[Code]);
    /// The part of a callstack that is kept, its outermost frame first: without what allocates for others. Its codes were resolved.
    fn own(&self, callstack: &[Code]) -> Range<usize>;
    /// The functions at a code that was resolved, the caller first. None where no more is known than the trace says.
    fn locations(&self, code: Code) -> Vec<Location<'_>>;
}
