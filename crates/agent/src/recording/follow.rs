//! What becomes of a recording in a forked child.
//!
//! With `--children` the child records itself at its next sample. Without, it is silent while the
//! recorded process lives; should that one be gone, it was a daemon's first act to fork, and the
//! child takes its place.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use memtrail_recording::session::State;

use crate::os::ffi_guard;
use crate::os::forked;
use crate::recording::recorder::{Recorder, report};
use crate::snapshot;

/// How often a silent child looks whether it is a daemon now.
const LOOK_EVERY_NS: u64 = 10_000_000;

static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);
static REPORTED_BY: AtomicU64 = AtomicU64::new(0);
static TAKING_OVER: AtomicBool = AtomicBool::new(false);

/// The recording of this forked child, begun now if it is to have one.
#[cold]
pub(crate) fn after_fork(parent: &'static Recorder) -> Option<&'static Recorder> {
    ffi_guard::keeping_errno(|| {
        let now = crate::os::clock::monotonic();
        if !parent.target.options.children {
            if now < NEXT_LOOK.load(Relaxed) {
                return None;
            }
            NEXT_LOOK.store(now + LOOK_EVERY_NS, Relaxed);
            if !is_gone(forked::owner()) {
                report_once(parent);
                return None;
            }
        }
        if TAKING_OVER.swap(true, Relaxed) {
            return None;
        }
        let epoch = parent.epoch.wrapping_add(1);
        let begun = Recorder::begin(parent.target, Some(parent.pid), epoch);
        TAKING_OVER.store(false, Relaxed);
        match begun {
            Ok(_) => snapshot::resume(),
            // Nobody can be told; try again rarely.
            Err(_) => NEXT_LOOK.store(now + 1000 * LOOK_EVERY_NS, Relaxed),
        }
        begun.ok()
    })
}

fn report_once(parent: &Recorder) {
    let pid = std::process::id();
    if REPORTED_BY.swap(u64::from(pid), Relaxed) != u64::from(pid) {
        report(parent.target, pid, 0, State::Forked);
    }
}

/// Whether a process has ended, be it that nobody has waited for it yet.
fn is_gone(pid: u32) -> bool {
    // SAFETY: signal 0 only asks.
    if unsafe { libc::kill(pid as i32, 0) } != 0 {
        return std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
    }
    !memtrail_recording::is_alive(pid) && Path::new("/proc/self/stat").exists()
}
