//! Tracked blocks that were freed while their thread was suspended. Their callbacks come later.

use crate::spin_lock::SpinLock;
use crate::table::Tracked;

/// Those that wait.
pub(crate) static PENDING: SpinLock<Vec<Tracked>> = SpinLock::new(Vec::new());

/// Puts a freed block aside. The thread is suspended, so what this allocates is not tracked.
pub(crate) fn push(tracked: Tracked) {
    let mut pending = PENDING.lock();
    // Without memory, the tracker does not hear of this block.
    let refused = if pending.try_reserve(1).is_ok() {
        pending.push(tracked);
        None
    } else {
        Some(tracked)
    };
    drop(pending);
    drop(refused);
}

/// Takes all of them.
pub(crate) fn take() -> Vec<Tracked> {
    std::mem::take(&mut *PENDING.lock())
}
