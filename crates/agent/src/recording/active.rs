//! The recording that samples go to; in a forked child, one that is begun then.
//!
//! With `--children` the child records itself at its next sample. Without, it is silent while the
//! recorded process lives; should that one be gone, it was a daemon's first act to fork, and the
//! child takes its place.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use memtrail_recording::session::State;

use crate::context::target::Target;
use crate::os::clock::monotonic;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::is_stopped;
use crate::os::forked;
use crate::recording::begin::begin;
use crate::recording::installed::{installed, own};
use crate::recording::recorder::Recorder;
use crate::recording::report::report;

/// How often a silent child looks whether it is a daemon now.
const LOOK_EVERY_NS: u64 = 10_000_000;

/// What a forked child that is not recorded yet knows.
struct ChildState {
    /// When to look again, on the monotonic clock.
    next_look: AtomicU64,
    /// The process that has reported that it was forked.
    reported_by: AtomicU64,
    /// Whether a thread begins its recording.
    begins: AtomicBool,
}

static CHILD: ChildState = ChildState {
    next_look: AtomicU64::new(0),
    reported_by: AtomicU64::new(0),
    begins: AtomicBool::new(false),
};

/// The recording that samples of this process go to, if one is under way.
#[inline]
pub(crate) fn active() -> Option<&'static Recorder> {
    let recorder = installed()?;
    if !forked::is_owner() {
        return after_fork(recorder);
    }
    if recorder.files.stopped.load(Relaxed) { None } else { Some(recorder) }
}

/// What is recorded, or was until the program began to sample by itself, if it is this process.
pub(crate) fn target() -> Option<&'static Target> {
    active().or_else(own).map(|recorder| recorder.files.target)
}

/// The recording of this forked child, begun now if it is to have one.
#[cold]
fn after_fork(parent: &'static Recorder) -> Option<&'static Recorder> {
    if is_stopped() {
        return None;
    }
    let files = &parent.files;
    keeping_errno(|| {
        let now = monotonic();
        if !files.target.options.children {
            if now < CHILD.next_look.load(Relaxed) {
                return None;
            }
            CHILD.next_look.store(now + LOOK_EVERY_NS, Relaxed);
            if !is_gone(forked::owner()) {
                report_once(parent);
                return None;
            }
        }
        if CHILD.begins.swap(true, Relaxed) {
            return None;
        }
        files.close_inherited();
        let epoch = files.epoch.wrapping_add(1);
        let begun = begin(files.target, files.hooks, Some(files.pid), epoch);
        CHILD.begins.store(false, Relaxed);
        match begun {
            Ok(_) => (files.hooks.child_began)(),
            // Nobody can be told; try again rarely.
            Err(_) => CHILD.next_look.store(now + 1000 * LOOK_EVERY_NS, Relaxed),
        }
        begun.ok()
    })
}

fn report_once(parent: &Recorder) {
    let pid = std::process::id();
    if CHILD.reported_by.swap(u64::from(pid), Relaxed) != u64::from(pid) {
        report(&parent.files.target.session, pid, 0, State::Forked);
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
