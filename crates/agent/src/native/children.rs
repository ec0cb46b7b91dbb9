//! The recording that samples go to. In a forked child it is one of its own, if the user asked for children: it begins
//! with the child's first sample.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::native::begin::begin;
use crate::native::current::{Recording, installed};
use crate::os::forked;

/// Whether a thread of a forked child begins its recording, or has failed to.
static BEGINS: AtomicBool = AtomicBool::new(false);

/// The recording that samples of this process go to. What a child of `vfork` allocates is its parent's, whose memory
/// it is in.
pub(super) fn current() -> Option<&'static Recording> {
    let recording = installed()?;
    let own = if forked::is_owner() {
        Some(recording)
    } else if recording.setting.options.children {
        of_child(recording)
    } else {
        None
    };
    own.filter(|recording| !recording.has_ended())
}

/// Begins the recording of this forked child.
#[cold]
fn of_child(parent: &'static Recording) -> Option<&'static Recording> {
    if BEGINS.swap(true, Acquire) {
        return None;
    }
    parent.close_inherited();
    let begun = begin(parent.setting, Some(parent.pid), parent.epoch + 1).ok()?;
    begun.report();
    BEGINS.store(false, Release);
    Some(begun)
}
