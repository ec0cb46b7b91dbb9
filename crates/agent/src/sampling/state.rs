//! What sampling needs to know of the process.

use crate::context::target::Target;
use crate::os::replaceable::Replaceable;
use crate::sampling::callstack::capturer::Capturer;

/// The value that stands for the whole program.
pub(crate) struct Sampling {
    pub(crate) target: &'static Target,
    pub(crate) capturer: Capturer,
}

static SAMPLING: Replaceable<Sampling> = Replaceable::new();

/// Sets it up, once for each recording that is begun in this process.
pub(crate) fn set_up(target: &'static Target) {
    SAMPLING.set(Sampling { target, capturer: Capturer::new(target) });
}

/// Forgets it: nothing is sampled any more.
pub(crate) fn forget() {
    SAMPLING.clear();
}

/// There once sampling is prepared.
#[inline]
pub(crate) fn sampling() -> Option<&'static Sampling> {
    SAMPLING.get()
}
