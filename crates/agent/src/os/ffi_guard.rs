//! The border between the target and this library: no panic gets across, and the program's stack is
//! left at it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::os::cancellation::without_cancellation;
use crate::os::private_stack;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Has all further calls return at once.
pub(crate) fn stop() {
    STOPPED.store(true, Relaxed);
}

/// Whether all calls return at once: after a panic, or as was asked for.
#[inline]
pub(crate) fn is_stopped() -> bool {
    STOPPED.load(Relaxed)
}

/// Silences Rust's panic message: it would go to the target's stderr.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Runs `work` on this thread's private stack; should it panic, all further calls return `otherwise`
/// at once.
#[inline]
pub fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    if STOPPED.load(Relaxed) {
        return otherwise;
    }
    let run = || private_stack::run(|| catch_unwind(AssertUnwindSafe(work)).ok());
    without_cancellation(run).unwrap_or_else(|| {
        STOPPED.store(true, Relaxed);
        otherwise
    })
}
