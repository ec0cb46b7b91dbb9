//! The border between the target and this library: no panic gets across, and the program's stack is
//! left at it. Where memory is exhausted, our code is left for the border, too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::os::cancellation::without_cancellation;
use crate::os::errno::keeping_errno;
use crate::os::{escape, heap, private_stack};

static STOPPED: AtomicBool = AtomicBool::new(false);

/// The end of all our work for want of memory.
struct Exhaustion {
    /// What notes that nothing is recorded from there.
    note: OnceLock<fn()>,
    /// Whether that was begun.
    has_begun: AtomicBool,
}

static EXHAUSTION: Exhaustion =
    Exhaustion { note: OnceLock::new(), has_begun: AtomicBool::new(false) };

/// Has all further calls return at once.
pub(crate) fn stop() {
    STOPPED.store(true, Relaxed);
}

/// Whether all calls return at once: after a panic, or as was asked for.
#[inline]
pub(crate) fn is_stopped() -> bool {
    STOPPED.load(Relaxed)
}

/// Silences Rust's panic message: it would go to the target's stderr. `note` is run if memory is exhausted, before all our
/// work ends.
pub(crate) fn install(note: fn()) {
    std::panic::set_hook(Box::new(|_| {}));
    EXHAUSTION.note.get_or_init(|| note);
    heap::keep_reserve();
}

/// Ends all our work, as memory is exhausted: a thread was in the midst of it, and does not come back.
#[cold]
fn end_for_want_of_memory() {
    if !EXHAUSTION.has_begun.swap(true, Relaxed) {
        heap::give_reserve_up();
        if let Some(&note) = EXHAUSTION.note.get() {
            let noted = || escape::catch(|| catch_unwind(note).is_ok());
            without_cancellation(|| private_stack::run(noted));
        }
    }
    stop();
}

/// Runs `work` on this thread's private stack; should it panic or get no memory, all further calls return `otherwise`
/// at once.
#[inline]
pub fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    if STOPPED.load(Relaxed) {
        return otherwise;
    }
    let run = || escape::catch(|| catch_unwind(AssertUnwindSafe(work)).ok());
    let result = without_cancellation(|| private_stack::run(run));
    if result.is_none() {
        keeping_errno(end_for_want_of_memory);
    }
    result.flatten().unwrap_or_else(|| {
        STOPPED.store(true, Relaxed);
        otherwise
    })
}
