//! Whether the program wants samples.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Cleared while the program wants no samples.
static ON: AtomicBool = AtomicBool::new(true);

/// Whether samples are recorded.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Lets samples be recorded, or not. The runtime's sampler goes on; blocks that were sampled before
/// are followed to their end.
pub(crate) fn switch(on: bool) {
    ON.store(on, Relaxed);
}
