//! The thread that brings what was sampled to the file, twice a second while the program works.
//!
//! It takes no signals, runs none of the target's code and holds a stream's lock only while it
//! copies one packet.

use std::sync::atomic::Ordering::Relaxed;

use crate::os::ffi_guard::guarded;
use crate::os::own_thread;
use crate::os::rest::{self, Rest};
use crate::recording::installed::own;
use crate::recording::stream::FLUSH_PERIOD;

/// The work is done on the private stack.
const STACK: usize = 128 * 1024;

/// Starts the thread. Without it (no more threads allowed) packets still go out as they fill.
pub(crate) fn start() {
    own_thread::start(STACK, run);
}

extern "C" fn run() {
    let mut rest = Rest::begin(rest::LOOKING);
    while rest.sleep(FLUSH_PERIOD) && guarded(false, flush) {}
}

/// False when there is nothing more to do.
fn flush() -> bool {
    let Some(recorder) = own() else { return false };
    if recorder.files.stopped.load(Relaxed) {
        return false;
    }
    recorder.files.take_over();
    recorder.flush();
    recorder.note_small_heap();
    recorder.note_room();
    (recorder.files.hooks.flushed)();
    true
}
