//! Heap snapshots: what keeps memory alive, written down beside the running program.
//!
//! Something asks ([`request`]): the user by a signal ([`signal`]) or by a file in the recording
//! ([`control`]), the end of a major collection, the size of the heap, memory that runs out
//! ([`memory_pressure`], [`out_of_memory`]), the end of the program. The
//! answer waits for a moment when the whole heap holds still ([`single`] for OCaml 4, [`multicore`]
//! for OCaml 5). At that moment the process is copied ([`fork`]), and goes on; the copy walks
//! the heap and writes the file ([`forked_view`]), which appears under its name when it is whole.
//!
//! Nothing of this is set up unless the user asked for snapshots.

mod control;
mod domains;
mod fork;
mod forked_view;
mod guest;
mod memory_pressure;
mod multicore;
mod out_of_memory;
mod request;
mod safepoint;
mod signal;
mod single;
mod writers;

use std::sync::OnceLock;

use memtrail_ocaml::Family;
use memtrail_recording::session::SnapshotOptions;

use crate::os::forked;
use crate::recording::recorder::{Target, note};

/// What snapshots need to know of the process; there if the user asked for snapshots.
struct Setting {
    target: &'static Target,
    options: &'static SnapshotOptions,
    safe: Safe,
}

/// How the program is brought to hold still.
enum Safe {
    Single(single::Runtime),
    Multicore(multicore::Runtime),
}

impl Safe {
    fn find(target: &'static Target) -> Result<Self, String> {
        let missing = |name: &str| format!("its runtime does not export {name}");
        Ok(match target.runtime.version.family() {
            Family::Single => Self::Single(single::Runtime::find(target).map_err(missing)?),
            Family::Multicore => {
                Self::Multicore(multicore::Runtime::find(target).map_err(missing)?)
            }
        })
    }
}

static SETTING: OnceLock<Setting> = OnceLock::new();

/// The setting, in the process that was set up, not in forks of it.
fn setting() -> Option<&'static Setting> {
    SETTING.get().filter(|_| forked::is_owner_itself())
}

/// Gets ready, before the program's own code runs. The error says why there can be no snapshots.
pub(crate) fn prepare(target: &'static Target) -> Result<(), String> {
    let Some(options) = &target.options.snapshots else { return Ok(()) };
    let safe = Safe::find(target)?;
    let Ok(()) = SETTING.set(Setting { target, options, safe }) else { return Ok(()) };
    let Some(setting) = SETTING.get() else { return Ok(()) };
    match &setting.safe {
        Safe::Single(runtime) => runtime.prepare(options),
        Safe::Multicore(runtime) => runtime.prepare(),
    }
    if let Some(number) = options.signal {
        signal::install(number);
    }
    if options.out_of_memory
        && let Err(reason) = out_of_memory::prepare()
    {
        note(format!("there will be no heap snapshot when memory runs out: {reason}"));
    }
    control::start();
    Ok(())
}

/// The program asks for a snapshot from its own code, also where the user asked for none: then
/// nothing was set up, and no more than this one snapshot needs is now. False if too many are being
/// written, unless it insists: then that is noted.
pub(crate) fn now(target: &'static Target, label: &str, insist: bool) -> bool {
    static NONE: SnapshotOptions = SnapshotOptions {
        every_major: false,
        exit: false,
        out_of_memory: false,
        signal: None,
        above: None,
        at_most: None,
        every_ms: 0,
        contents: false,
    };
    if SETTING.get().is_none() {
        let Ok(safe) = Safe::find(target) else { return true };
        // Another domain may have been faster.
        let _ = SETTING.set(Setting { target, options: &NONE, safe });
    }
    let Some(setting) = setting() else { return true };
    writers::collect();
    if !insist && !writers::has_room() {
        return false;
    }
    let answered = match &setting.safe {
        Safe::Single(runtime) => {
            runtime.now(label);
            true
        }
        Safe::Multicore(runtime) => runtime.now(label, insist),
    };
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
        control::start();
    }
}

/// The process comes to its end: the last snapshot, and all that are being written are finished.
pub(crate) fn end_of_process() {
    let Some(setting) = setting() else { return };
    if let Some(reason) = request::accept() {
        safepoint::refuse(reason, "the program ended before its heap held still");
    }
    if setting.options.exit {
        if !writers::has_room() {
            // The last one is not left out for those before it.
            writers::finish();
        }
        match &setting.safe {
            Safe::Single(runtime) => runtime.at_exit(),
            Safe::Multicore(runtime) => runtime.at_exit(),
        }
    }
    writers::finish();
}

/// The process is about to become another program, which must not find our copies among its children.
pub(crate) fn before_exec() {
    if setting().is_some() {
        writers::finish();
    }
}
