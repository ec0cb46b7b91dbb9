//! Signals that end the program, where it leaves them at their default: the last snapshot comes before.
//!
//! The program is not to see it. Its own `sigaction` and `signal` find the default where our handler stands, and what
//! it sets replaces ours. A signal that was ignored when it started stays ignored, and the first process of a
//! namespace, which such signals do not end, keeps that. The program ends by the same signal, within [`PATIENCE`],
//! and at once when it comes a second time. What our handler interrupts is not to go on: a system call that failed
//! with `EINTR` could make the program do what it would not do alone. So where the program waits, the handler holds it
//! until the process ends. Where it runs, it has to come to a safepoint, and does.

use std::ffi::c_int;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::time::Duration;

use memtrail_recording::SnapshotReason;

use super::setting::Setting;
use super::{auto_watch, request, safepoint, writers};
use crate::os::clock::{monotonic, pause};
use crate::os::errno::keeping_errno;
use crate::os::{forked, own_thread};

/// Those that are sent to end a program.
const DEADLY: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
/// How long the program may go on after the signal, in nanoseconds.
const PATIENCE: u64 = 800_000_000;
/// How long a program that may wait is held by the handler, in milliseconds.
const HELD: u64 = 300;
/// How long it takes at most until a program that waits has its snapshot, in nanoseconds.
const WAITING: u64 = 60_000_000;
/// Between looks, in nanoseconds.
const BETWEEN: u32 = 2_000_000;

/// Where our handler stands: a place for each of [`DEADLY`].
static HANDLED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];
/// The signal that has come; 0 if none has.
static ARRIVED: AtomicI32 = AtomicI32::new(0);
/// 0 while the handler is to hold its thread; a futex.
static LET_GO: AtomicU32 = AtomicU32::new(0);
/// The control thread that ends the process is there.
static IS_SERVED: AtomicBool = AtomicBool::new(false);

fn place_of(number: c_int) -> Option<&'static AtomicBool> {
    DEADLY.iter().position(|known| *known == number).map(|place| &HANDLED[place])
}

fn default() -> libc::sigaction {
    // SAFETY: all-zero structures are valid; the default is zero.
    unsafe { std::mem::zeroed() }
}

fn ours() -> libc::sigaction {
    let mut ours = default();
    ours.sa_sigaction = arrived as extern "C" fn(c_int) as usize;
    // The second one ends the program at once.
    ours.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK | libc::SA_RESETHAND;
    // SAFETY: a set of ours.
    unsafe { libc::sigfillset(&raw mut ours.sa_mask) };
    for deadly in DEADLY {
        // SAFETY: as above.
        unsafe { libc::sigdelset(&raw mut ours.sa_mask, deadly) };
    }
    ours
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == arrived as extern "C" fn(c_int) as usize
}

unsafe extern "C" {
    /// glibc's own name for `sigaction`, which nobody stands before.
    #[link_name = "__sigaction"]
    fn real(number: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
}

/// Puts our handler where the default is, before the program's own code runs.
pub(super) fn install() {
    // SAFETY: plain system call.
    if unsafe { libc::getpid() } == 1 {
        return;
    }
    for (number, place) in DEADLY.into_iter().zip(&HANDLED) {
        let mut now = default();
        // SAFETY: valid structures.
        unsafe {
            if real(number, std::ptr::null(), &raw mut now) == 0
                && now.sa_sigaction == libc::SIG_DFL
            {
                place.store(true, Release);
                let ours = ours();
                if real(number, &raw const ours, std::ptr::null_mut()) != 0 {
                    place.store(false, Release);
                }
            }
        }
    }
}

/// In place of libc's `sigaction`: the program finds the default where our handler stands.
///
/// # Safety
/// As libc's.
pub unsafe fn sigaction(
    number: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    if !place_of(number).is_some_and(|place| place.load(Acquire)) {
        // SAFETY: as the caller promises.
        return unsafe { real(number, new, old) };
    }
    let ours = ours();
    // SAFETY: as the caller promises.
    unsafe {
        let is_default = !new.is_null() && (*new).sa_sigaction == libc::SIG_DFL;
        let put = if is_default && forked::is_owner_itself() { &raw const ours } else { new };
        let result = real(number, put, old);
        if result == 0 && !old.is_null() && is_ours(&*old) {
            *old = default();
        }
        result
    }
}

extern "C" fn arrived(number: c_int) {
    keeping_errno(|| {
        let is_first = ARRIVED.compare_exchange(0, number, AcqRel, Relaxed).is_ok();
        if !is_first
            || !forked::is_owner_itself()
            || own_thread::main_has_ended()
            || !IS_SERVED.load(Acquire)
        {
            return end_by(number);
        }
        request::wake_for_signal();
        own_thread::wait(&LET_GO, 0, Duration::from_millis(HELD));
    });
}

/// Ends the process by a signal, as soon as a thread does not block it.
fn end_by(number: c_int) {
    // The kernel's own call: libc's is the one that hides our handler. Its structure for the default is all zeros.
    let default = [0_u64; 8];
    // SAFETY: plain system calls; the structure is valid for the call.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigaction,
            number,
            default.as_ptr(),
            std::ptr::null_mut::<u64>(),
            size_of::<u64>(),
        );
        libc::kill(libc::getpid(), number);
    }
}

/// The control thread begins, or ends.
pub(super) fn serve(is_there: bool) {
    IS_SERVED.store(is_there, Release);
}

/// Forgets what came to the process that this one was forked from.
pub(super) fn forget() {
    ARRIVED.store(0, Relaxed);
    LET_GO.store(0, Relaxed);
}

/// Whether one has come.
pub(super) fn has_arrived() -> bool {
    ARRIVED.load(Acquire) != 0
}

/// In the control thread: takes the last snapshot, if it is wanted, and ends the process.
pub(super) fn end(setting: &Setting) {
    let begun = monotonic();
    let options = setting.options;
    if options.exit || (options.auto && auto_watch::is_worth_a_last_one()) {
        writers::collect();
        request::add(SnapshotReason::Exit);
        let passed = || monotonic().saturating_sub(begun);
        while !safepoint::is_last_answered() && passed() < PATIENCE {
            setting.heap.attend_idle();
            if passed() >= WAITING {
                // It does not wait: it is to come by.
                let_go();
                setting.heap.nudge();
            }
            pause(BETWEEN);
        }
        writers::await_files();
    }
    end_by(ARRIVED.load(Acquire));
    let_go();
}

/// The handler's thread goes on.
fn let_go() {
    LET_GO.store(1, Release);
    own_thread::wake(&LET_GO);
}
