//! `memtrail attach`: the library was loaded into a program that runs, and begins to record it.
//!
//! `memtrail` makes a thread of the program load the library and call [`attach`], wherever that thread is: so no more is done
//! there than to start a thread of ours. That thread brings the program to a moment at which its runtime is whole
//! ([`arrival`]), and starts the recording there. `memtrail detach` asks by a file in the session; the thread then ends the
//! recording in the same way. The library stays, without any thread, hook or changed code, and can be attached again.

mod arrival;

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use memtrail_recording::session::{DETACH_FILE, Options, State};

use crate::context::runtime::version_or;
use crate::lifecycle::load::begin_library;
use crate::lifecycle::pending_start::PendingStart;
use crate::lifecycle::{leave, recorded, start};
use crate::os::clock;
use crate::os::ffi_guard::guarded;
use crate::os::lock::Lock;
use crate::os::own_thread;
use crate::recording::active::target;
use crate::recording::end::complete;
use crate::recording::relay;
use crate::recording::report::report;
use crate::snapshot;
use arrival::Arrival;

/// The attachment under way.
struct Attachment {
    is_under_way: AtomicBool,
    session: Lock<Option<PathBuf>>,
    /// Thread pointer of the program's main thread.
    main_thread: AtomicU64,
    /// Attachments before this one.
    before: AtomicU8,
}

static ATTACHMENT: Attachment = Attachment {
    is_under_way: AtomicBool::new(false),
    session: Lock::new(None),
    main_thread: AtomicU64::new(0),
    before: AtomicU8::new(0),
};

/// Results of [`attach`]. `memtrail` knows them by these numbers.
const BEGUN: c_int = 0;
const FAILED: c_int = 1;
const RECORDED: c_int = 2;
const NO_THREAD: c_int = 3;

/// The work is done on the private stack.
const STACK: usize = 128 * 1024;
/// Between looks at whether anybody asks to end it, in milliseconds.
const LOOK: u64 = 250;
/// Between tries to bring the program to a whole moment, in milliseconds: first, and for a program that waits.
const FIRST_PAUSE: u64 = 2;
const LONG_PAUSE: u64 = 500;
/// The largest number of a recording. Blocks have the number of theirs.
const MAX_EPOCH: u8 = 0x7f;
/// Tries with the first pause.
const TRIES: u32 = 200;

const DETACHED: &str = "memtrail detach ended the recording; the program went on";
const LATE: &str =
    "memtrail was attached to a program that ran: memory allocated before is not in the trace";
const UNSEEN: &str = "not recorded of an attached program: calls of malloc (--native), exec and _exit, and filters of system \
     calls (seccomp), which must allow the agent's";

/// Begins to record this process for a session.
///
/// # Safety
/// `session` is a C string. `main_thread` is the thread pointer of the process's main thread. The calling thread is neither in
/// the dynamic linker nor in `malloc`.
pub unsafe fn attach(session: *const c_char, main_thread: u64) -> c_int {
    guarded(FAILED, || {
        // SAFETY: as the caller promises.
        let session = OsStr::from_bytes(unsafe { CStr::from_ptr(session) }.to_bytes());
        begin(PathBuf::from(session), main_thread)
    })
}

fn begin(session: PathBuf, main_thread: u64) -> c_int {
    static IS_PREPARED: AtomicBool = AtomicBool::new(false);
    let is_attached_before = ATTACHMENT.before.load(Acquire) > 0;
    if ATTACHMENT.is_under_way.swap(true, AcqRel) {
        return RECORDED;
    }
    if recorded::is_recorded() && !is_attached_before {
        ATTACHMENT.is_under_way.store(false, Release);
        return RECORDED;
    }
    if !IS_PREPARED.swap(true, AcqRel) {
        begin_library();
    }
    ATTACHMENT.main_thread.store(main_thread, Release);
    *ATTACHMENT.session.lock() = Some(session);
    own_thread::begin_anew();
    if own_thread::start(STACK, run) {
        return BEGUN;
    }
    ATTACHMENT.is_under_way.store(false, Release);
    NO_THREAD
}

/// The thread of ours that begins and ends the recording.
extern "C" fn run() {
    guarded((), || {
        own_thread::part_with_descriptors();
        let session = ATTACHMENT.session.lock().clone();
        if let Some(session) = session
            && let Err(reason) = follow(&session)
        {
            let state = State::Refused { reason, hint: None };
            report(&session, std::process::id(), 0, state);
            relay::unmap();
        }
    });
    ATTACHMENT.is_under_way.store(false, Release);
}

/// Records until somebody asks to end it, or the program ends. The error is a reason.
fn follow(session: &Path) -> Result<(), String> {
    // In this order: a process with the other mapping has to be known to whoever completes the recording.
    relay::stay_known(session);
    relay::map(session);
    let options =
        Options::load(session).map_err(|error| format!("cannot read its options: {error}"))?;
    if options.memtrail != env!("CARGO_PKG_VERSION") {
        return Err("has the agent of another version of memtrail".into());
    }
    let version = version_or(options.assume_version.as_deref())
        .map_err(|unsupported| unsupported.to_string())?;
    if !version.can_sample() {
        return Err(format!(
            "has the runtime of OCaml {version}, which has no sampler: it can be recorded from its start only"
        ));
    }
    let main_thread = ATTACHMENT.main_thread.load(Acquire);
    let arrival = arrival::find(version, main_thread)
        .map_err(|missing| format!("has a runtime without {missing}"))?;
    let detach = session.join(DETACH_FILE);
    let mut pending = Some(PendingStart {
        options,
        session: session.to_path_buf(),
        version,
        arguments: arguments(),
    });
    let mut outcome = Err("did not come to a moment at which sampling can begin".to_owned());
    let epoch = ATTACHMENT.before.load(Acquire);
    let begun = arrival::work_at(
        &*arrival,
        &mut |domains| {
            // Hooks that are put in place now must not have this one before them.
            arrival.take_out();
            if let Some(pending) = pending.take() {
                // SAFETY: this is such a moment.
                outcome = unsafe { start::join(pending, vec![LATE, UNSEEN], epoch, domains) };
            }
            true
        },
        |tries| wait(tries) && !detach.exists(),
    );
    if !begun {
        return Err("was detached before it came to a moment at which sampling can begin".into());
    }
    ATTACHMENT.before.store(next_epoch(epoch), Release);
    outcome?;
    while own_thread::sleep(LOOK) {
        if detach.exists() {
            end(&*arrival);
            break;
        }
    }
    Ok(())
}

/// The number of the recording after that of this number; never 0, that of the first one.
const fn next_epoch(epoch: u8) -> u8 {
    if epoch == MAX_EPOCH { 1 } else { epoch + 1 }
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

/// The program's arguments, as the kernel has them.
fn arguments() -> Vec<String> {
    let text = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let text = text.strip_suffix(b"\0").unwrap_or(&text);
    text.split(|&byte| byte == 0)
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect()
}
