//! The thread that takes snapshots on request: `memtrail snapshot` leaves a file in the recording.
//!
//! It is there if the user asked for more than a snapshot at the end. It ends with the program's main thread.

use memtrail_recording::SnapshotReason;
use memtrail_sampler::events;

use super::take::take;
use crate::native::current::own;
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;

/// How often the file is looked for, in milliseconds.
const LOOK: u64 = 150;
/// The work is done on the private stack.
const STACK: usize = 128 * 1024;

/// Starts the thread.
pub(in crate::native) fn start() {
    events::suspended(|| own_thread::start(STACK, run));
}

extern "C" fn run() {
    guarded((), || {
        own_thread::part_with_descriptors();
        while own_thread::sleep(LOOK) {
            let Some(recording) = own().filter(|recording| !recording.has_ended()) else { return };
            let is_wanted = recording.stream().is_some_and(|stream| stream.take_request());
            if is_wanted {
                events::suspended(|| take(recording, SnapshotReason::Request, None));
            }
        }
    });
}
