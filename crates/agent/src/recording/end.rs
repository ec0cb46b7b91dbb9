//! How a recording ends, or goes on after it seemed to.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use memtrail_recording::{FileState, Outcome};

use crate::os::errno::keeping_errno;
use crate::os::lock;
use crate::recording::installed::own;

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

/// The program samples by itself from now on.
pub(crate) fn hand_over() {
    if let Some(recorder) = own() {
        keeping_errno(|| recorder.end(Outcome::GaveWay));
    }
}
