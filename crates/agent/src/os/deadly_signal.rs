//! Signals that end the program, where it leaves them at their default: something of ours comes before.
//!
//! The program is not to see it. Its own `sigaction` and `signal` find the default where our handler stands, and what
//! it sets replaces ours. A signal that was ignored when it started stays ignored, and the first process of a
//! namespace, which such signals do not end, keeps that. The program ends by the same signal, within [`AT_LATEST`],
//! and at once when it comes a second time.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicI32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::os::errno::keeping_errno;
use crate::os::{forked, own_thread};

/// Those that are sent to end a program.
const DEADLY: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
/// When the program ends at the latest, in nanoseconds.
const AT_LATEST: i64 = 900_000_000;

/// Where our handler stands: a place for each of [`DEADLY`].
static HANDLED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];
/// The signal that has come; 0 if none has.
static ARRIVED: AtomicI32 = AtomicI32::new(0);
/// The work before the program ends.
static LAST_WORK: OnceLock<&'static LastWork> = OnceLock::new();

/// Work between a signal and the program's end.
pub(crate) struct LastWork {
    /// True if it can be done now.
    pub(crate) is_possible: fn() -> bool,
    /// Runs in the handler, on the thread that has the signal. The program ends when [`end_by`] is called, at the
    /// latest after [`AT_LATEST`].
    pub(crate) work: fn(c_int),
}

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
pub(crate) fn install(work: &'static LastWork) {
    let _ = LAST_WORK.set(work);
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

unsafe extern "C" {
    /// Another name of libc's `signal`.
    #[link_name = "ssignal"]
    fn real_signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
}

/// In place of libc's `signal`.
///
/// # Safety
/// As libc's.
pub unsafe fn signal(number: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    let is_handled = place_of(number).is_some_and(|place| place.load(Acquire));
    // SAFETY: as the caller promises; all-zero structures are valid.
    unsafe {
        if is_handled && handler == libc::SIG_DFL {
            let (new, mut old) = (default(), default());
            let result = sigaction(number, &raw const new, &raw mut old);
            return if result == 0 { old.sa_sigaction } else { libc::SIG_ERR };
        }
        let old = real_signal(number, handler);
        if old == arrived as extern "C" fn(c_int) as usize { libc::SIG_DFL } else { old }
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
        let last = LAST_WORK.get();
        // A child of `vfork` has our memory: what is noted there would end its parent.
        let Some(last) = last.filter(|last| {
            forked::is_owner_itself()
                && !own_thread::main_has_ended()
                && (last.is_possible)()
                && ARRIVED.compare_exchange(0, number, AcqRel, Relaxed).is_ok()
        }) else {
            return end_by(number);
        };
        if !ends_soon(number) {
            return end_by(number);
        }
        (last.work)(number);
    });
}

/// Has the kernel send the signal once more after [`AT_LATEST`], now that it has its default: the program ends then,
/// whatever becomes of our threads and however long its own hold the runtime's lock.
fn ends_soon(number: c_int) -> bool {
    let at = libc::timespec { tv_sec: 0, tv_nsec: AT_LATEST };
    let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let once = libc::itimerspec { it_interval: never, it_value: at };
    // SAFETY: all-zero structures are valid, and so are the pointers for the calls. libc's `timer_create` may allocate.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        (event.sigev_notify, event.sigev_signo) = (libc::SIGEV_SIGNAL, number);
        let mut timer: c_int = 0;
        let (clock, none) = (libc::CLOCK_MONOTONIC, std::ptr::null_mut::<libc::itimerspec>());
        libc::syscall(libc::SYS_timer_create, clock, &raw mut event, &raw mut timer) == 0
            && libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const once, none) == 0
    }
}

/// Ends the process by a signal, as soon as a thread does not block it.
pub(crate) fn end_by(number: c_int) {
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

/// Forgets what came to the process that this one was forked from.
pub(crate) fn forget() {
    ARRIVED.store(0, Relaxed);
}

/// Gives the signals their default back: the program is about to forbid itself the calls of the handler.
pub(crate) fn uninstall() {
    for (number, place) in DEADLY.into_iter().zip(&HANDLED) {
        let mut now = default();
        // SAFETY: valid structures.
        unsafe {
            if place.swap(false, AcqRel)
                && real(number, std::ptr::null(), &raw mut now) == 0
                && is_ours(&now)
            {
                let before = default();
                real(number, &raw const before, std::ptr::null_mut());
            }
        }
    }
}

/// Ends the process by the signal that has come, if one has: it is at its end, or about to become another program.
pub(crate) fn end_if_arrived() {
    let arrived = arrived_signal();
    if arrived != 0 {
        end_by(arrived);
    }
}

/// The signal that has come; 0 if none has.
pub(crate) fn arrived_signal() -> c_int {
    ARRIVED.load(Acquire)
}
