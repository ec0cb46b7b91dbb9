//! What the layers above do for a recording.

use memtrail_trace::{Code, Location};

use crate::context::target::Target;

/// Gives the functions at a call site to a function, the caller first; none if they are not known.
pub(crate) type Symbolise = fn(&Target, Code, UseLocations<'_>);
/// What is done with these functions.
pub(crate) type UseLocations<'a> = &'a mut dyn FnMut(&[Location<'_>]);

/// Functions of the layers above that a recording calls.
pub(crate) struct Hooks {
    pub(crate) symbolise: Symbolise,
    /// The same for callstacks of calls of `malloc`, which may come at any moment.
    pub(crate) symbolise_of_malloc: Symbolise,
    /// A recording has begun; nothing is written into it yet.
    pub(crate) began: fn(),
    /// The domain whose state is at this address, and has this number, is sampled for the first time: on
    /// its own thread, or else this is unsafe.
    pub(crate) domain_found: unsafe fn(&Target, state: u64, number: u16),
    /// Called now and then by the thread that flushes.
    pub(crate) flushed: fn(),
    /// Called now and then by threads of the program, once ours are gone.
    pub(crate) threads_are_gone: fn(),
    /// The recording of a forked child has begun.
    pub(crate) child_began: fn(),
}
