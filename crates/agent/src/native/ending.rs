//! The end of the process: what is measured and looked for then, and how the recording ends.

use std::ffi::c_int;
use std::time::Duration;

use memtrail_recording::SnapshotReason;
use memtrail_sampler::{Registers, events};

use crate::native::current::{Recording, own};
use crate::native::measure::measure;
use crate::native::references::{StackTop, take};
use crate::os::deadly_signal::{self, LastWork};
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard;

/// Time for the work at the end where a signal ends the program.
const LEFT_BY_SIGNAL: Duration = Duration::from_millis(700);

/// Ends the recording before a signal ends the program.
pub(super) static LAST_WORK: LastWork = LastWork {
    is_possible: || own().is_some_and(|recording| !recording.has_ended()),
    work: end_by_signal,
};

/// The process is about to end, by whatever way. Nothing is touched in a child of `vfork`.
pub fn end_of_process() {
    end_within(None);
}

fn end_within(within: Option<Duration>) {
    at_the_end(|recording, here, top| {
        // It costs a short process more than all else.
        if !recording.stream().is_some_and(|stream| stream.is_of_idle_child()) {
            measure(recording, here);
        }
        take_last_of(recording, top, within);
        recording.end();
    });
}

/// A signal ends the program, in whose handler this runs.
fn end_by_signal(number: c_int) {
    end_within(Some(LEFT_BY_SIGNAL));
    deadly_signal::end_by(number);
}

/// Takes the snapshot at the end, if it is wanted and not there.
#[cfg(target_arch = "x86_64")]
pub(super) fn take_last() {
    at_the_end(|recording, _, top| take_last_of(recording, top, None));
}

#[inline]
fn at_the_end(work: impl FnOnce(&'static Recording, &Registers, &StackTop)) {
    if let Some(recording) = own().filter(|recording| !recording.has_ended()) {
        let (here, top) = (Registers::here(), StackTop::here());
        let work = || work(recording, &here, &top);
        ffi_guard::guarded((), || keeping_errno(|| events::suspended(work)));
    }
}

fn take_last_of(recording: &Recording, top: &StackTop, within: Option<Duration>) {
    let leaves_out =
        || recording.stream().is_some_and(|mut stream| stream.leaves_last_snapshot_out());
    if recording.wants_last(within) && !leaves_out() {
        take::take(recording, SnapshotReason::Exit, Some(top), within);
    }
}
