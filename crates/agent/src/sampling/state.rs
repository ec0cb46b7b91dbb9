//! What sampling needs to know of the process.

use std::sync::OnceLock;

use crate::context::target::Target;
use crate::sampling::callstack::capturer::Capturer;

/// The value that stands for the whole program.
pub(crate) struct Sampling {
    pub(crate) target: &'static Target,
    pub(crate) capturer: Capturer,
}

static SAMPLING: OnceLock<Sampling> = OnceLock::new();

/// Sets it up, once.
pub(crate) fn set_up(target: &'static Target) {
    let _ = SAMPLING.set(Sampling { target, capturer: Capturer::new(target) });
}

/// There once sampling is prepared.
#[inline]
pub(crate) fn sampling() -> Option<&'static Sampling> {
    SAMPLING.get()
}
