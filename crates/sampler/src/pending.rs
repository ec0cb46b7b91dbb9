//! Tracked blocks that were freed while their thread was suspended. Their callbacks come later.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::spin_lock::SpinLock;
use crate::table::Tracked;

/// Those that wait.
pub(crate) static PENDING: SpinLock<Vec<Tracked>> = SpinLock::new(Vec::new());

/// Whether some wait. A thread sees at least what it has put aside itself.
static SOME: AtomicBool = AtomicBool::new(false);

/// Puts a freed block aside. The thread is suspended, so what this allocates is not tracked.
pub(crate) fn push(tracked: Tracked) {
    // Without memory, or in a signal handler that interrupted this, the tracker does not hear of this block.
    let Some(mut pending) = PENDING.lock() else { return };
    let refused = if pending.try_reserve(1).is_ok() {
        pending.push(tracked);
        SOME.store(true, Relaxed);
        None
    } else {
        Some(tracked)
    };
    drop(pending);
    drop(refused);
}

/// Takes all of them.
pub(crate) fn take() -> Vec<Tracked> {
    if !SOME.load(Relaxed) {
        return Vec::new();
    }
    let Some(mut pending) = PENDING.lock() else { return Vec::new() };
    SOME.store(false, Relaxed);
    std::mem::take(&mut *pending)
}
