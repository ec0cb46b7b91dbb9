//! `memtrail attach`: the library was loaded into a program that runs, and a thread of ours begins to record.
//!
//! `memtrail` makes a thread of the program load the library and call [`attach`], wherever that thread is: so no more is done
//! there than to start a thread of ours. That one records as the library's [`Attached`] says. `memtrail detach` asks by a file in
//! the session; the thread then ends the recording. The library stays, without any thread, hook or changed code, and can be
//! attached again.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64,
    Ordering::{AcqRel, Acquire, Release},
};

use memtrail_recording::session::{DETACH_FILE, Options, State};

use crate::lifecycle::recorded;
use crate::os::ffi_guard::guarded;
use crate::os::lock::Lock;
use crate::os::own_thread;
use crate::recording::relay;
use crate::recording::report::report;

/// The part of an attachment that depends on the library.
pub(crate) struct Attached {
    /// Gets the library ready, once.
    pub(crate) prepare: fn(),
    /// Records until somebody asks to end it, or the program ends. Runs in a thread of ours; the error is a reason.
    pub(crate) follow: fn(&Path) -> Result<(), String>,
}

/// The attachment under way.
struct Attachment {
    is_under_way: AtomicBool,
    session: Lock<Option<(PathBuf, &'static Attached)>>,
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
pub(crate) const LOOK: u64 = 250;
/// The largest number of a recording. Blocks have the number of theirs.
const MAX_EPOCH: u8 = 0x7f;

/// A note of a recording that was ended.
pub(crate) const DETACHED: &str = "memtrail detach ended the recording; the program went on";
/// Begins to record this process for a session.
///
/// # Safety
/// `session` is a C string. `main_thread` is the thread pointer of the process's main thread. The calling thread is neither in
/// the dynamic linker nor in `malloc`.
pub(crate) unsafe fn attach(
    session: *const c_char,
    main_thread: u64,
    attached: &'static Attached,
) -> c_int {
    guarded(FAILED, || {
        // SAFETY: as the caller promises.
        let session = OsStr::from_bytes(unsafe { CStr::from_ptr(session) }.to_bytes());
        begin(PathBuf::from(session), main_thread, attached)
    })
}

fn begin(session: PathBuf, main_thread: u64, attached: &'static Attached) -> c_int {
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
        (attached.prepare)();
    }
    ATTACHMENT.main_thread.store(main_thread, Release);
    *ATTACHMENT.session.lock() = Some((session, attached));
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
        if let Some((session, attached)) = session
            && let Err(reason) = (attached.follow)(&session)
        {
            let state = State::Refused { reason, hint: None };
            report(&session, std::process::id(), 0, state);
            relay::unmap();
        }
    });
    ATTACHMENT.is_under_way.store(false, Release);
}

/// Joins the session, and gives what is asked for there. The error is a reason.
pub(crate) fn join(session: &Path) -> Result<Options, String> {
    // In this order: a process with the other mapping has to be known to whoever completes the recording.
    relay::stay_known(session);
    relay::map(session);
    let options =
        Options::load(session).map_err(|error| format!("cannot read its options: {error}"))?;
    if options.memtrail != env!("CARGO_PKG_VERSION") {
        return Err("has the agent of another version of memtrail".into());
    }
    Ok(options)
}

/// Thread pointer of the program's main thread.
pub(crate) fn main_thread() -> u64 {
    ATTACHMENT.main_thread.load(Acquire)
}

/// The number of the recording that begins, among those of this process.
pub(crate) fn epoch() -> u8 {
    ATTACHMENT.before.load(Acquire)
}

/// The recording has begun, or was tried: the next one has another number.
pub(crate) fn has_begun() {
    ATTACHMENT.before.store(next_epoch(epoch()), Release);
}

/// The number of the recording after that of this number; never 0, that of the first one.
const fn next_epoch(epoch: u8) -> u8 {
    if epoch == MAX_EPOCH { 1 } else { epoch + 1 }
}

/// True if somebody asks to end the recording.
pub(crate) fn is_detached(session: &Path) -> bool {
    session.join(DETACH_FILE).exists()
}

/// The program's arguments, as the kernel has them.
pub(crate) fn arguments() -> Vec<String> {
    let text = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let text = text.strip_suffix(b"\0").unwrap_or(&text);
    text.split(|&byte| byte == 0)
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect()
}
