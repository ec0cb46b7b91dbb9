//! `memtrail attach` of an OCaml program: brings it to a moment at which its runtime is whole ([`arrival`]), and starts the
//! recording there. The end of the recording waits for such a moment, too.

mod arrival;

use std::ffi::{c_char, c_int};
use std::path::Path;

use memtrail_recording::ATTACHED;

use crate::context::runtime::version_or;
use crate::lifecycle::attachment::{self, Attached, DETACHED, LOOK};
use crate::lifecycle::load::begin_library;
use crate::lifecycle::pending_start::PendingStart;
use crate::lifecycle::{leave, start};
use crate::os::clock;
use crate::os::own_thread;
use crate::os::rest::{self, Rest};
use crate::recording::active::target;
use crate::recording::end::complete;
use crate::recording::relay;
use crate::snapshot;
use arrival::Arrival;

/// Between tries to bring the program to a whole moment, in milliseconds: first, and for a program that waits.
const FIRST_PAUSE: u64 = 2;
const LONG_PAUSE: u64 = 500;
/// Tries with the first pause.
const TRIES: u32 = 200;

const UNSEEN: &str = "not recorded of an attached program: calls of malloc (--native), exec and _exit, and filters of system \
     calls (seccomp), which must allow the agent's";

static THIS_AGENT: Attached = Attached { prepare: begin_library, follow };

/// Begins to record this process for a session.
///
/// # Safety
/// `session` is a C string. `main_thread` is the thread pointer of the process's main thread. The calling thread is neither in
/// the dynamic linker nor in `malloc`.
pub unsafe fn attach(session: *const c_char, main_thread: u64) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { attachment::attach(session, main_thread, &THIS_AGENT) }
}

/// Records until somebody asks to end it, or the program ends. The error is a reason.
fn follow(session: &Path) -> Result<(), String> {
    let options = attachment::join(session)?;
    let version = version_or(options.assume_version.as_deref())
        .map_err(|unsupported| unsupported.to_string())?;
    if !version.can_sample() {
        return Err(format!(
            "has the runtime of OCaml {version}, which has no sampler: it can be recorded from its start only"
        ));
    }
    let arrival = arrival::find(version, attachment::main_thread())
        .map_err(|missing| format!("has a runtime without {missing}"))?;
    let mut pending = Some(PendingStart {
        options,
        session: session.to_path_buf(),
        version,
        arguments: attachment::arguments(),
    });
    let mut outcome = Err("did not come to a moment at which sampling can begin".to_owned());
    let epoch = attachment::epoch();
    let begun = arrival::work_at(
        &*arrival,
        &mut |domains| {
            // Hooks that are put in place now must not have this one before them.
            arrival.take_out();
            if let Some(pending) = pending.take() {
                // SAFETY: this is such a moment.
                outcome = unsafe { start::join(pending, vec![ATTACHED, UNSEEN], epoch, domains) };
            }
            true
        },
        |tries| wait(tries) && !attachment::is_detached(session),
    );
    if !begun {
        return Err("was detached before it came to a moment at which sampling can begin".into());
    }
    attachment::has_begun();
    outcome?;
    let mut rest = Rest::begin(rest::ASKED);
    while rest.sleep(LOOK) {
        if attachment::is_detached(session) {
            end(&*arrival);
            break;
        }
    }
    Ok(())
}

/// Pauses between tries. False once the main thread has ended.
fn wait(tries: u32) -> bool {
    own_thread::sleep(if tries < TRIES { FIRST_PAUSE } else { LONG_PAUSE })
}

/// Ends the recording and takes back all that was changed.
fn end(arrival: &dyn Arrival) {
    let Some(target) = target() else { return };
    complete(DETACHED);
    own_thread::end_others();
    snapshot::lifecycle::end();
    arrival::work_at(
        arrival,
        &mut |domains| {
            // It may come before hooks that are to be given back.
            arrival.take_out();
            // SAFETY: this is such a moment, and the other threads of ours have ended.
            unsafe { leave::leave(target, domains) }
        },
        wait_on,
    );
    relay::unmap();
}

/// Pauses between tries. False once the main thread has ended: this thread must not prolong the life of the process.
fn wait_on(tries: u32) -> bool {
    let pause = if tries < TRIES { FIRST_PAUSE } else { LONG_PAUSE };
    clock::pause(pause as u32 * 1_000_000);
    !own_thread::main_is_gone()
}
