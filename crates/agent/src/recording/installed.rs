//! The recording that this process has, or inherited by a fork.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::os::clock::Clock;
use crate::os::forked;
use crate::recording::folder::Folder;
use crate::recording::recorder::Recorder;

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());

/// Makes a recording the one of this process, for as long as the process lives.
pub(crate) fn install(recorder: Recorder) -> &'static Recorder {
    let recorder = Box::leak(Box::new(recorder));
    forked::take_ownership();
    RECORDER.store(recorder, Release);
    recorder
}

/// The recording of this process, or of the one that it was forked from.
#[inline]
pub(crate) fn installed() -> Option<&'static Recorder> {
    // SAFETY: null, or a recorder that was leaked for the life of the process.
    unsafe { RECORDER.load(Acquire).as_ref() }
}

/// The recording of this process, under way or ended, but not one inherited by a fork.
pub(crate) fn own() -> Option<&'static Recorder> {
    installed().filter(|_| forked::is_owner_itself())
}

/// Whether a recording was begun in this process or before it forked.
pub(crate) fn is_recorded() -> bool {
    installed().is_some()
}

/// Whether the user asked for the children of recorded processes.
pub(crate) fn follows_children() -> bool {
    installed().is_some_and(|recorder| recorder.files.target.options.children)
}

/// Whether snapshots can be taken.
pub(crate) fn takes_snapshots() -> bool {
    installed().is_some_and(|recorder| recorder.files.target.options.snapshots.is_some())
}

/// A sample came that is recorded nowhere: counted if that is because writing failed.
#[cold]
pub(crate) fn missed() {
    if let Some(recorder) = own().filter(|own| own.files.failure.load(Relaxed) != 0) {
        recorder.files.missed.fetch_add(1, Relaxed);
    }
}

/// Where this process is recorded, and when.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) folder: &'static Folder,
    pub(crate) clock: Clock,
    pub(crate) pid: u32,
    pub(crate) epoch: u8,
}

/// The place of this process's own recording, which may have ended.
pub(crate) fn place() -> Option<Place> {
    own().map(|recorder| {
        let files = &recorder.files;
        Place { folder: &files.folder, clock: files.clock, pid: files.pid, epoch: files.epoch }
    })
}
