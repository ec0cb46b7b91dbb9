//! The thread that takes the snapshots which are wanted, and collects the processes that write them.
//!
//! Users ask through a file in the recording, a folder that is theirs alone: so nothing listens in the
//! target, and no descriptor of ours is open there that the program could close or meet.

use memtrail_recording::SnapshotReason;

use super::memory_pressure::Watch;
use super::setting::{Setting, setting};
use super::share::Share;
use super::{auto_costs, auto_watch, last_by_signal, request, writers};
use crate::os::deadly_signal;
use crate::os::ffi_guard::guarded;
use crate::os::own_thread;
use crate::os::rest::{self, Rest};
use crate::recording::installed::place;
use crate::recording::notes::forget_snapshot;

/// Time between looks for the file while the program works, in milliseconds.
const LOOK: u64 = 150;
/// When it is tried again to take a snapshot that is wanted, in milliseconds.
const AGAIN: u64 = 20;
/// The work is done on the private stack.
const STACK: usize = 128 * 1024;

/// Starts the thread, and for OCaml 5 the one that acts for the main domain.
pub(super) fn start() {
    own_thread::start(STACK, run);
    if let Some(second) = setting().and_then(|setting| setting.heap.second_thread()) {
        own_thread::start(STACK, second);
    }
}

extern "C" fn run() {
    guarded((), || {
        let (Some(setting), Some(at)) = (setting(), place()) else { return };
        own_thread::part_with_descriptors();
        let mut threshold = setting.options.above;
        let mut memory_pressure = Watch::default();
        let (disk, is_attached) = (setting.target.options.disk, setting.target.options.attached);
        let mut auto = setting.options.auto.then(|| auto_watch::Watch::new(disk, is_attached));
        let mut share = Share::new(disk);
        last_by_signal::serve(true);
        let mut rest = Rest::begin(rest::ASKED);
        while place().is_some() {
            rest.sleep(if request::wanted() { AGAIN } else { LOOK });
            if deadly_signal::arrived_signal() != 0 {
                return last_by_signal::end(setting);
            }
            if own_thread::main_has_ended() {
                return last_by_signal::serve(false);
            }
            if at.folder.take_request() {
                request::add(SnapshotReason::Request);
            }
            look_at_size(setting, &mut threshold);
            for (reason, taken) in auto_costs::take() {
                match &mut auto {
                    Some(auto) if reason == SnapshotReason::Auto => auto.add(taken),
                    _ => share.add(taken).into_iter().for_each(forget_snapshot),
                }
            }
            if let Some(auto) = &mut auto {
                auto.look(setting);
            }
            if setting.options.out_of_memory && memory_pressure.is_worse() {
                request::add(SnapshotReason::OutOfMemory);
            }
            if request::wanted() {
                setting.heap.take_wanted();
            }
            writers::collect();
        }
        last_by_signal::serve(false);
    });
}

/// What the thread does, once, for a program whose main thread has ended: it calls where it allocates.
pub(super) fn look() {
    let (Some(setting), Some(at)) = (setting(), place()) else { return };
    if at.folder.take_request() {
        request::add(SnapshotReason::Request);
    }
    if request::wanted() {
        setting.heap.nudge();
    }
    writers::collect();
}

/// Asks for a snapshot when the heap has passed the threshold, and sets the next one.
fn look_at_size(setting: &Setting, threshold: &mut Option<u64>) {
    let Some(bytes) = *threshold else { return };
    let used = setting.heap.used();
    if used > bytes && request::one_more(setting.options) {
        *threshold = Some(used.saturating_mul(2));
        request::add(SnapshotReason::Above);
    }
}
