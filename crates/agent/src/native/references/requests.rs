//! The thread that takes snapshots while the program runs: on request, as `memtrail snapshot` leaves a file in the
//! recording, and at intervals.
//!
//! It is there if the user asked for more than a snapshot at the end. It ends with the program's main thread.

use memtrail_recording::SnapshotReason;
use memtrail_recording::session::SnapshotOptions;
use memtrail_sampler::events;

use super::take::take;
use crate::native::current::own;
use crate::os::clock::monotonic;
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;
use crate::os::rest::{self, Rest};

/// Time between looks for the file while the program works, in milliseconds.
const LOOK: u64 = 150;
/// The work is done on the private stack.
const STACK: usize = 128 * 1024;
const MILLISECOND: u64 = 1_000_000;

/// Starts the thread, if there is something to do for it.
pub(in crate::native) fn start(options: &SnapshotOptions) {
    if options.has_thread() {
        events::suspended(|| own_thread::start(STACK, run));
    }
}

extern "C" fn run() {
    guarded((), || {
        own_thread::part_with_descriptors();
        let (mut last, mut taken) = (monotonic(), 0);
        let (mut rest, mut has_intervals) = (Rest::begin(rest::ASKED), true);
        while if has_intervals { own_thread::sleep(LOOK) } else { rest.sleep(LOOK) } {
            let Some(recording) = own().filter(|recording| !recording.has_ended()) else { return };
            let Some(options) = &recording.setting.options.snapshots else { return };
            has_intervals = options.every_ms > 0;
            let is_asked = recording.stream().is_some_and(|stream| stream.take_request());
            if is_asked {
                events::suspended(|| take(recording, SnapshotReason::Request, None, None));
            }
            let is_due = has_intervals
                && options.at_most.is_none_or(|most| taken < most)
                && monotonic().saturating_sub(last) >= options.every_ms * MILLISECOND;
            if is_due {
                events::suspended(|| take(recording, SnapshotReason::Interval, None, None));
                // However long it took, the program then runs alone for that time.
                (last, taken) = (monotonic(), taken + 1);
            }
        }
    });
}
