//! The last snapshot of an OCaml program that a signal ends.
//!
//! The program must not go on where the handler interrupts it: a system call that failed with `EINTR` could make it do
//! something that it would not do alone. So where the program waits, the handler holds it until the process ends. Where it runs, it has
//! to come to a safepoint, and does.

use std::ffi::c_int;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Duration;

use memtrail_recording::SnapshotReason;

use super::setting::Setting;
use super::{auto_watch, request, safepoint, writers};
use crate::os::clock::{monotonic, pause};
use crate::os::deadly_signal::{self, LastWork, arrived_signal, end_by};
use crate::os::own_thread;

/// Time that the program may go on after the signal, in nanoseconds.
const PATIENCE: u64 = 800_000_000;
/// Time that the handler holds a program that may wait, in milliseconds.
const HELD: u64 = 300;
/// Time within which a program that waits has its snapshot, in nanoseconds.
const WAITING: u64 = 60_000_000;
/// Between looks, in nanoseconds.
const BETWEEN: u32 = 2_000_000;

/// 0 while the handler is to hold its thread; a futex.
static LET_GO: AtomicU32 = AtomicU32::new(0);
/// The control thread that ends the process is there.
static IS_SERVED: AtomicBool = AtomicBool::new(false);

static LAST_WORK: LastWork = LastWork { is_possible: || IS_SERVED.load(Acquire), work: hold };

/// Puts our handler where the default is, before the program's own code runs.
pub(super) fn install() {
    deadly_signal::install(&LAST_WORK);
}

fn hold(_: c_int) {
    request::wake();
    own_thread::wait(&LET_GO, 0, Duration::from_millis(HELD));
}

/// The control thread begins, or ends.
pub(super) fn serve(is_there: bool) {
    IS_SERVED.store(is_there, Release);
}

/// Forgets what came to the process that this one was forked from.
pub(super) fn forget() {
    IS_SERVED.store(false, Relaxed);
    deadly_signal::forget();
    LET_GO.store(0, Relaxed);
}

/// In the control thread: takes the last snapshot, if it is wanted, and ends the process.
pub(super) fn end(setting: &Setting) {
    let begun = monotonic();
    let options = setting.options;
    if options.exit || (options.auto && auto_watch::is_worth_a_last_one()) {
        writers::collect();
        request::add(SnapshotReason::Exit);
        let passed = || monotonic().saturating_sub(begun);
        while !safepoint::is_last_answered() && passed() < PATIENCE {
            setting.heap.take_while_idle();
            if passed() >= WAITING {
                // It does not wait: it is to come by.
                let_go();
                setting.heap.nudge();
            }
            pause(BETWEEN);
        }
        writers::await_files();
    }
    end_by(arrived_signal());
    let_go();
}

/// The handler's thread goes on.
fn let_go() {
    LET_GO.store(1, Release);
    own_thread::wake(&LET_GO);
}
