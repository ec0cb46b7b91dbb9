//! The thread that sees to it that a snapshot which is wanted is taken, and that those being written
//! are accounted for.
//!
//! Users ask through a file in the recording, a folder that is theirs alone: so nothing listens in the
//! target, and no descriptor of ours is open there that the program could close or meet.

use memtrail_recording::SnapshotReason;

use super::memory_pressure::Watch;
use super::{Safe, Setting, request, setting, single, writers};
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;
use crate::recording::recorder;

/// How often the file is looked for, in milliseconds.
const LOOK: u64 = 150;
/// How long a program that runs is given to come to a safe point before we see whether it is idle.
const PATIENCE: u64 = 60;
/// The work is done on the private stack.
const STACK: usize = 128 * 1024;

/// Starts the thread, and for OCaml 5 the one that acts for the main domain.
pub(super) fn start() {
    own_thread::start(STACK, run);
    if matches!(setting(), Some(Setting { safe: Safe::Multicore(_), .. })) {
        own_thread::start(STACK, stand_in);
    }
}

/// The main domain of OCaml 5, when it waits.
extern "C" fn stand_in() {
    guarded((), || {
        if let Some(Setting { safe: Safe::Multicore(runtime), .. }) = setting() {
            runtime.serve();
        }
    });
}

extern "C" fn run() {
    guarded((), || {
        let (Some(setting), Some(place)) = (setting(), recorder::place()) else { return };
        part_with_descriptors();
        let mut threshold = setting.options.above;
        let mut memory_pressure = Watch::default();
        while recorder::place().is_some() {
            match &setting.safe {
                Safe::Single(_) => request::sleep(LOOK),
                // What is wanted wakes the other thread.
                Safe::Multicore(_) => {
                    own_thread::sleep(LOOK);
                }
            }
            if own_thread::main_has_ended() {
                return;
            }
            if place.folder.take_ask() {
                request::ask(SnapshotReason::Request);
            }
            look_at_size(setting, &mut threshold);
            if setting.options.out_of_memory && memory_pressure.is_worse() {
                request::ask(SnapshotReason::OutOfMemory);
            }
            if let Safe::Single(runtime) = &setting.safe
                && request::wanted()
            {
                see_to_it(runtime);
            }
            writers::collect();
        }
    });
}

/// What the thread does, once, for a program whose main thread has ended: it calls where it allocates.
pub(super) fn look() {
    let (Some(setting), Some(place)) = (setting(), recorder::place()) else { return };
    if place.folder.take_ask() {
        request::ask(SnapshotReason::Request);
    }
    if let Safe::Single(runtime) = &setting.safe
        && request::wanted()
    {
        runtime.nudge();
    }
    writers::collect();
}

/// Gives this thread a table of descriptors of its own, an empty one: what it opens for a moment takes
/// no number that the program might count on. Before Linux 5.9 it goes without.
fn part_with_descriptors() {
    // SAFETY: concerns this thread, which uses none that is open.
    unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
}

/// Asks for a snapshot when the heap has passed the threshold, and sets the next one.
fn look_at_size(setting: &Setting, threshold: &mut Option<u64>) {
    let Some(bytes) = *threshold else { return };
    let used = match &setting.safe {
        Safe::Single(runtime) => runtime.used(),
        Safe::Multicore(runtime) => runtime.used(),
    };
    if used > bytes && request::one_more(setting.options) {
        *threshold = Some(used.saturating_mul(2));
        request::ask(SnapshotReason::Above);
    }
}

/// OCaml 4: brings the program to a safe point, or holds it where it waits.
fn see_to_it(runtime: &single::Runtime) {
    runtime.nudge();
    let mut waited = 0;
    while request::wanted() && waited < PATIENCE {
        // SAFETY: a valid duration, no remainder wanted.
        unsafe { libc::usleep(2_000) };
        waited += 2;
    }
    if request::wanted() {
        runtime.try_idle();
    }
}
