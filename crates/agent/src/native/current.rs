//! The recording that this process has, or inherited by a fork.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};
use std::time::Duration;

use memtrail_recording::{FileState, Outcome};

use crate::native::mappings::Mappings;
use crate::native::references::{Refused, is_worth_a_last_one};
use crate::native::resident::Resident;
use crate::native::setting::Setting;
use crate::native::stream::Stream;
use crate::os::forked;
use crate::os::lock::{self, Lock, LockGuard};

/// The recording of a process.
pub(super) struct Recording {
    pub(super) setting: &'static Setting,
    /// Tells the blocks of this recording from those of the process it was forked from.
    pub(super) epoch: u32,
    pub(super) pid: u32,
    pub(super) resident: Resident,
    stream: Lock<Stream>,
    mappings: Lock<Mappings>,
    ended: AtomicBool,
    /// Whether a snapshot at the end was taken, or is being taken.
    has_last: AtomicBool,
    /// Samples that came while their thread wrote another.
    missed: AtomicU64,
}

static RECORDING: AtomicPtr<Recording> = AtomicPtr::new(std::ptr::null_mut());
/// The recording of this process, or of the one that it was forked from.
pub(super) fn installed() -> Option<&'static Recording> {
    // SAFETY: null, or a recording that was leaked for the life of the process.
    unsafe { RECORDING.load(Acquire).as_ref() }
}

impl Recording {
    /// Makes this the recording of the process, for as long as the process lives.
    pub(super) fn install(
        setting: &'static Setting,
        (pid, epoch): (u32, u32),
        resident: Resident,
        stream: Stream,
        mappings: Lock<Mappings>,
    ) -> &'static Self {
        let recording = Box::leak(Box::new(Self {
            setting,
            epoch,
            pid,
            resident,
            stream: Lock::new(stream),
            mappings,
            ended: AtomicBool::new(false),
            has_last: AtomicBool::new(false),
            missed: AtomicU64::new(0),
        }));
        forked::take_ownership();
        RECORDING.store(recording, Release);
        recording
    }

    /// Tells the launcher that the recording has begun.
    pub(super) fn report(&self) {
        if let Some(stream) = self.stream() {
            stream.report(None);
        }
    }

    /// The trace, unless this thread was interrupted while it wrote.
    pub(super) fn stream(&self) -> Option<LockGuard<'_, Stream>> {
        let stream = self.stream.lock_unless_ending();
        if stream.is_none() {
            self.missed.fetch_add(1, Relaxed);
        }
        stream
    }

    /// In a forked child: lets nothing more be written into its parent's recording.
    pub(super) fn close_inherited(&self) {
        // Another thread may have had it, which is not there.
        if let Some(mut stream) = self.stream.try_lock() {
            stream.close();
        }
    }

    /// The program's mappings, unless this thread was interrupted while it noted one.
    pub(super) fn mappings(&self) -> Option<LockGuard<'_, Mappings>> {
        self.mappings.lock_unless_ending()
    }

    /// Notes in the description how the recording ends, with what was written until now.
    pub(super) fn note(&self, outcome: Option<Outcome>) {
        lock::while_ending(|| {
            // What is not written is in the last packet, which the launcher has.
            if let Some(mut stream) = self.stream.lock_unless_ending() {
                stream.note(outcome, self.missed.load(Relaxed));
            }
        });
    }

    /// Whether samples are left out.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// Leaves the snapshot at the end out.
    pub(super) fn give_up_last(&self) {
        self.has_last.store(true, Relaxed);
    }

    /// True once, if the process, which ends, is to have a snapshot. `within`: the time left.
    pub(super) fn wants_last(&self, within: Option<Duration>) -> bool {
        let Some(options) = &self.setting.options.snapshots else { return false };
        if !(options.exit || options.auto) || self.has_last.swap(true, Relaxed) {
            return false;
        }
        if options.exit {
            return true;
        }
        match is_worth_a_last_one(self.resident.age(), within) {
            Ok(()) => true,
            Err(Refused::Short) => false,
            Err(Refused::For(reason)) => {
                if let Some(mut stream) = self.stream() {
                    stream.add_note(reason);
                }
                false
            }
        }
    }

    /// Nothing more is recorded, for the reason in this note; the process goes on.
    pub(super) fn end_with_note(&self, words: &str) {
        self.end_in(FileState::Growing, words);
    }

    /// Somebody asks to end the recording, with this note; the process goes on.
    pub(super) fn complete(&self, words: &str) {
        self.end_in(FileState::Complete, words);
    }

    fn end_in(&self, state: FileState, words: &str) {
        if !self.ended.swap(true, Relaxed) {
            lock::while_ending(|| {
                if let Some(mut stream) = self.stream.lock_unless_ending() {
                    stream.end_with_note(state, words, self.missed.load(Relaxed));
                }
            });
        }
    }

    /// The process comes to its end: further samples are left out.
    pub(super) fn end(&self) {
        if !self.ended.swap(true, Relaxed) {
            self.note(Some(Outcome::Exited { code: None }));
        }
    }
}

/// The recording of this process itself.
pub(super) fn own() -> Option<&'static Recording> {
    installed().filter(|_| forked::is_owner_itself())
}
