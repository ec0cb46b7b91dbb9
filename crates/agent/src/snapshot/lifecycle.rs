//! What snapshots do in the process's life: its start, forks, its end, and calls of the program.

use std::sync::OnceLock;

use memtrail_recording::session::SnapshotOptions;

use super::generation::SnapshotGeneration;
use super::setting::{self, Setting, setting};
use super::{
    auto_costs, auto_watch, control, last_by_signal, out_of_memory, request, safepoint, signal,
    writers,
};
use crate::context::target::Target;
use crate::os::deadly_signal;
use crate::recording::notes::note;

/// The generation of the runtime, for snapshots that only the program asks for.
static GENERATION: OnceLock<&'static dyn SnapshotGeneration> = OnceLock::new();

/// Gets ready, before the program's own code runs or while the heap holds still. The error says why there can be no snapshots.
pub(crate) fn prepare(
    target: &'static Target,
    generation: &'static dyn SnapshotGeneration,
) -> Result<(), String> {
    let _ = GENERATION.set(generation);
    let Some(options) = &target.options.snapshots else { return Ok(()) };
    let missing = |name: &str| format!("its runtime does not export {name}");
    let heap = generation.find(target).map_err(missing)?;
    setting::set(Setting { target, options, heap });
    heap.prepare(options);
    if let Some(number) = options.signal.filter(|_| !target.options.attached) {
        signal::install(number);
    }
    if options.out_of_memory
        && !target.options.attached
        && let Err(reason) = out_of_memory::prepare()
    {
        note(format!("there will be no heap snapshot when memory runs out: {reason}"));
    }
    // Later the program has its own handlers, and would see ours.
    if (options.exit || options.auto) && !target.options.attached {
        last_by_signal::install();
    }
    control::start();
    Ok(())
}

/// The program asks for a snapshot from its own code, also where the user asked for none: then
/// nothing was set up, and no more than this one snapshot needs is now. False if too many are being
/// written, unless it insists: then that is noted.
pub(crate) fn now(target: &'static Target, label: &str, insist: bool) -> bool {
    static NO_MOMENTS: SnapshotOptions = SnapshotOptions {
        every_major: false,
        auto: false,
        exit: false,
        request: false,
        out_of_memory: false,
        signal: None,
        above: None,
        at_most: None,
        every_ms: 0,
        contents: false,
    };
    if !setting::is_set() {
        let Some(&generation) = GENERATION.get() else { return true };
        let Ok(heap) = generation.find(target) else { return true };
        // Another domain may have been faster.
        setting::set(Setting { target, options: &NO_MOMENTS, heap });
    }
    let Some(setting) = setting() else { return true };
    writers::collect();
    if !insist && !writers::has_room() {
        return false;
    }
    let answered = setting.heap.now(label, insist);
    writers::await_files();
    answered
}

/// Wakes the threads that wait for snapshot requests: they are to end.
pub(crate) fn wake() {
    request::wake();
}

/// Serves snapshot requests from a callback, when the threads that would are gone.
pub(crate) fn look() {
    control::look();
}

/// Accounts for copies that have ended, where no thread of ours is there for that alone.
pub(crate) fn collect_ended() {
    if setting().is_some() {
        writers::collect();
    }
}

/// This fork of the process that was set up is recorded from now on: its snapshots are its own.
pub(crate) fn resume() {
    if setting().is_some() {
        request::forget();
        safepoint::begin_again();
        writers::forget();
        let _ = auto_costs::take();
        last_by_signal::forget();
        control::start();
    }
}

/// The process comes to its end: the last snapshot, and all that are being written are finished.
pub(crate) fn end_of_process() {
    let Some(setting) = setting() else { return };
    if let Some(reason) = request::accept() {
        safepoint::refuse(reason, "the program ended before its heap held still");
    }
    let options = setting.options;
    if options.exit || (options.auto && auto_watch::is_worth_a_last_one()) {
        if !writers::has_room() {
            // The last one is not left out for those before it.
            writers::finish();
        }
        setting.heap.at_exit();
    }
    writers::finish();
    deadly_signal::end_if_arrived();
}

/// No more snapshots are taken. Those that are being written are finished; threads of ours have ended.
pub(crate) fn end() {
    if setting().is_some() {
        writers::finish();
    }
}

/// Gives the runtime's hooks back, while the heap holds still.
pub(crate) fn give_back() {
    if let Some(setting) = setting() {
        setting.heap.give_back();
        setting::forget();
        request::forget();
        safepoint::begin_again();
        writers::forget();
        let _ = auto_costs::take();
    }
}

/// The process is about to become another program, which must not find our copies among its children.
pub(crate) fn before_exec() {
    if setting().is_some() {
        writers::finish();
        deadly_signal::end_if_arrived();
    }
}
