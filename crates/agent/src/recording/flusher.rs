//! The thread that brings what was sampled to the file, twice a second.
//!
//! It takes no signals, runs none of the target's code and holds a stream's lock only while it
//! copies one packet.

use crate::os::ffi_guard::guarded;
use crate::os::own_thread;

/// Twice a second, so that the file is never a second behind. In milliseconds.
pub(crate) const PERIOD: u64 = 400;
/// The work is done on the private stack.
const STACK: usize = 128 * 1024;

/// Starts the thread. Without it (no more threads allowed) packets still go out as they fill.
pub(crate) fn start() {
    own_thread::start(STACK, run);
}

extern "C" fn run() {
    while own_thread::sleep(PERIOD)
        && guarded(false, crate::recording::recorder::flush_periodically)
    {}
}
