//! The work that waits for a moment at which the runtime is whole, and how it is done there once.

use std::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};

use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;

/// Work for such a moment: it gets the states of all domains, and is true when it is done. Otherwise it is tried again.
pub(in crate::lifecycle::attach) type Work<'a> = dyn FnMut(&[u64]) -> bool + 'a;

/// Brings the program to such moments.
pub(in crate::lifecycle::attach) trait Arrival: Send + Sync {
    /// Puts our hook in place, and has the program come to it.
    fn ask(&self);

    /// Does the work that is wanted if the program waits in a system call, after so many tries.
    fn try_idle(&self, tries: u32);

    /// Takes our hook out.
    fn take_out(&self);
}

/// The work that is wanted.
struct Wanted {
    /// Address of a `&mut Work`.
    work: AtomicPtr<std::ffi::c_void>,
    progress: AtomicU32,
}

static WANTED: Wanted =
    Wanted { work: AtomicPtr::new(std::ptr::null_mut()), progress: AtomicU32::new(IDLE) };

const IDLE: u32 = 0;
const ASKED: u32 = 1;
const AT_WORK: u32 = 2;
const DONE: u32 = 3;

/// True while work is wanted.
pub(super) fn is_wanted() -> bool {
    WANTED.progress.load(Acquire) == ASKED
}

/// Does the work that is wanted, if any still is. The runtime is whole, and nothing of the program runs.
pub(super) fn at_moment(domains: &[u64]) {
    if WANTED.progress.compare_exchange(ASKED, AT_WORK, AcqRel, Acquire).is_err() {
        return;
    }
    let work = WANTED.work.load(Acquire).cast::<&mut Work<'_>>();
    // SAFETY: whoever asks waits in `work_at` until the work is done or taken back, with it on its stack.
    let is_done = keeping_errno(|| guarded(true, || unsafe { (*work)(domains) }));
    WANTED.progress.store(if is_done { DONE } else { ASKED }, Release);
}

/// Does `work` at such a moment. `pause` is called between tries, and ends them with false. True if the work was done.
pub(in crate::lifecycle::attach) fn work_at(
    arrival: &dyn Arrival,
    work: &mut Work<'_>,
    mut pause: impl FnMut(u32) -> bool,
) -> bool {
    let mut work: &mut Work<'_> = work;
    WANTED.work.store((&raw mut work).cast(), Release);
    WANTED.progress.store(ASKED, Release);
    let mut tries = 0;
    loop {
        if is_wanted() {
            arrival.ask();
            arrival.try_idle(tries);
        }
        if WANTED.progress.load(Acquire) == DONE {
            break;
        }
        if !pause(tries) && WANTED.progress.compare_exchange(ASKED, IDLE, AcqRel, Acquire).is_ok() {
            arrival.take_out();
            return false;
        }
        tries = tries.saturating_add(1);
    }
    WANTED.progress.store(IDLE, Release);
    arrival.take_out();
    true
}
