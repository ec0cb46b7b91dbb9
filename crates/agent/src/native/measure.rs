//! Threads of the program's measure what its resident memory is used for: after an allocation that was looked at, when it
//! is time, and as the process ends.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use memtrail_sampler::{Registers, events};

use crate::native::current::{Recording, installed, own};
use crate::os::clock::{coarse, thread_cpu_time};
use crate::recording::memory::pace;

/// Measures, if that is to be done. `function` is one under way that the program called.
pub(super) fn measure_if_due(function: &Registers) {
    let Some(recording) = installed() else { return };
    let resident = &recording.resident;
    let due = resident.due.load(Relaxed);
    // Whose recording it is, is asked last: the system is asked for it. Once, whichever thread comes first.
    if coarse() < due
        || own().is_none()
        || resident.due.compare_exchange(due, u64::MAX, Relaxed, Relaxed).is_err()
        || recording.has_ended()
    {
        return;
    }
    events::suspended(|| {
        let begun = thread_cpu_time();
        let elapsed = measure(recording, function);
        let cost = Duration::from_nanos(thread_cpu_time().saturating_sub(begun));
        let pause = pace::next(cost, elapsed).as_nanos() as u64;
        resident.due.store(coarse().saturating_add(pause), Relaxed);
    });
}

/// Measures and writes. Gives the age of the recording.
pub(super) fn measure(recording: &Recording, function: &Registers) -> Duration {
    recording.resident.measure(&recording.setting.session, function)
}
