//! Names of functions that the trace itself does not have.

use std::fmt::Debug;
use std::ops::Range;

use crate::info::Location;
use crate::units::Code;

/// Names functions of which a trace has places in files alone, until somebody has written the names into it.
pub trait Naming: Debug + Send + Sync {
    /// Calls `each` with what stands at a code, the caller first; not at all where no more is known than the trace says.
    fn locate(&self, code: Code, each: &mut dyn FnMut(Location<'_>));
    /// The part of a callstack that is kept, its outermost frame first: without what allocates for others.
    fn own(&self, callstack: &[Code]) -> Range<usize>;
}
