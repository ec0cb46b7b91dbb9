//! The thread that sees to it that a snapshot which is wanted is taken, and that those being written
//! are accounted for.
//!
//! Users ask through a file in the recording, a folder that is theirs alone: so nothing listens in the
//! target, and no descriptor of ours is open there that the program could close or meet.

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt as _;

use memtrail_recording::{ASK_FILE, SnapshotReason};

use super::shortage::Watch;
use super::{Safe, Setting, request, setting, writers};
use crate::fence::fenced;
use crate::{own_thread, recorder};

/// How often the file is looked for, in milliseconds.
const LOOK: u64 = 150;
/// How long a program that runs is given to come to a safe point before we see whether it is idle.
const PATIENCE: u64 = 60;
const STACK: usize = 256 * 1024;

/// Starts the thread.
pub(super) fn start() {
    own_thread::start(STACK, run);
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    // SAFETY: a C string; names only this thread.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"memtrail".as_ptr()) };
    fenced((), || {
        let (Some(setting), Some(place)) = (setting(), recorder::place()) else { return };
        let ask = place.folder.join(ASK_FILE);
        let Ok(ask) = CString::new(ask.as_os_str().as_bytes()) else { return };
        part_with_descriptors();
        let mut threshold = setting.options.above;
        let mut shortage = Watch::default();
        while recorder::place().is_some() {
            request::sleep(LOOK);
            // SAFETY: a C string. Whoever made the file asked; taking it away answers.
            if unsafe { libc::unlink(ask.as_ptr()) } == 0 {
                request::ask(SnapshotReason::Request);
            }
            look_at_size(setting, &mut threshold);
            if setting.options.out_of_memory && shortage.is_worse() {
                request::ask(SnapshotReason::OutOfMemory);
            }
            if request::wanted() {
                see_to_it(setting);
            }
            writers::collect();
        }
    });
    std::ptr::null_mut()
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

fn see_to_it(setting: &Setting) {
    match &setting.safe {
        Safe::Single(runtime) => runtime.nudge(),
        Safe::Multicore(runtime) => runtime.nudge(),
    }
    let mut waited = 0;
    while request::wanted() && waited < PATIENCE {
        // SAFETY: a valid duration, no remainder wanted.
        unsafe { libc::usleep(2_000) };
        waited += 2;
    }
    if request::wanted() {
        match &setting.safe {
            Safe::Single(runtime) => runtime.try_idle(),
            Safe::Multicore(runtime) => runtime.try_idle(),
        }
    }
}
