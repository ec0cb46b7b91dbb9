//! Brings a program that runs to a moment at which its runtime is whole, and does something there.
//!
//! A thread of ours waits for it. The program's own thread gets there by a hook of the runtime's; a program that waits in a
//! system call is replaced by our thread for a moment.

mod ocaml4;
mod ocaml5;

use std::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};

use memtrail_ocaml::{Family, Version};

use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;

/// Work for such a moment: it gets the states of all domains, and is true when it is done. Otherwise it is tried again.
pub(super) type Work<'a> = dyn FnMut(&[u64]) -> bool + 'a;

/// Brings the program to such moments.
pub(super) trait Arrival: Send + Sync {
    /// Puts our hook in place, and has the program come to it.
    fn ask(&self);

    /// Does the work that is wanted if the program waits in a system call, after so many tries.
    fn try_idle(&self, tries: u32);

    /// Takes our hook out.
    fn take_out(&self);
}

/// Finds how a program of this version is brought there. `main_thread` is the thread pointer of its main thread. The name of
/// what is missing is the error.
pub(super) fn find(version: Version, main_thread: u64) -> Result<Box<dyn Arrival>, &'static str> {
    Ok(match version.family() {
        Family::Single => Box::new(ocaml4::Ocaml4Arrival::find(version)?),
        Family::Multicore => Box::new(ocaml5::Ocaml5Arrival::find(version, main_thread)?),
    })
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
fn is_wanted() -> bool {
    WANTED.progress.load(Acquire) == ASKED
}

/// Does the work that is wanted, if any still is. The runtime is whole, and nothing of the program runs.
fn at_moment(domains: &[u64]) {
    if WANTED.progress.compare_exchange(ASKED, AT_WORK, AcqRel, Acquire).is_err() {
        return;
    }
    let work = WANTED.work.load(Acquire).cast::<&mut Work<'_>>();
    // SAFETY: whoever asks waits in `work_at` until the work is done or taken back, with it on its stack.
    let is_done = keeping_errno(|| guarded(true, || unsafe { (*work)(domains) }));
    WANTED.progress.store(if is_done { DONE } else { ASKED }, Release);
}

/// Does `work` at such a moment. `pause` is called between tries, and ends them with false. True if the work was done.
pub(super) fn work_at(
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
