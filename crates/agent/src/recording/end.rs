//! How a recording ends, or goes on after it seemed to.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use memtrail_recording::{FileState, Outcome};

use crate::os::errno::keeping_errno;
use crate::os::lock;
use crate::recording::installed::own;
use crate::recording::notes::note;
use crate::recording::recorder::Recorder;

/// What is noted where memory is exhausted.
pub(crate) const NO_MEMORY: &str =
    "memory was exhausted, and the agent got none: nothing is recorded from there";

/// Brings everything sampled so far to the file.
pub(crate) fn flush_now() {
    if let Some(recorder) = own() {
        keeping_errno(|| recorder.flush());
    }
}

/// The process comes to its end.
pub(crate) fn end_of_process() {
    if let Some(recorder) = own()
        && (!recorder.files.stopped.load(Relaxed) || recorder.files.failure.load(Acquire) != 0)
    {
        keeping_errno(|| {
            recorder.memory.measure_last();
            recorder.end(Outcome::Exited { code: None });
        });
    }
}

/// The process is about to become another program.
pub(crate) fn before_exec() {
    if let Some(recorder) = own() {
        keeping_errno(|| {
            lock::while_ending(|| {
                let passed_over = recorder.flush();
                recorder.note(Some(Outcome::Execed), FileState::Complete, passed_over);
            });
        });
    }
}

/// It did not.
pub(crate) fn after_failed_exec() {
    if let Some(recorder) = own() {
        keeping_errno(|| recorder.note(None, FileState::Growing, 0));
    }
}

/// Nothing more is recorded, for the reason in this note; the process goes on.
pub(crate) fn end_with_note(words: &str) {
    end_by(words, Recorder::stop);
}

/// Somebody asks to end the recording, with this note; the process goes on.
pub(crate) fn complete(words: &str) {
    end_by(words, Recorder::complete);
}

fn end_by(words: &str, end: fn(&Recorder)) {
    if let Some(recorder) = own().filter(|recorder| !recorder.files.stopped.load(Relaxed)) {
        keeping_errno(|| {
            note(words.to_owned());
            recorder.memory.measure_last();
            end(recorder);
        });
    }
}

/// There is no memory for our work any more: the process goes on without.
pub(crate) fn for_want_of_memory() {
    if let Some(recorder) = own().filter(|recorder| !recorder.files.stopped.load(Relaxed)) {
        note(NO_MEMORY.to_owned());
        recorder.stop();
    }
}

/// The program samples by itself from now on.
pub(crate) fn hand_over() {
    if let Some(recorder) = own() {
        keeping_errno(|| recorder.end(Outcome::GaveWay));
    }
}
