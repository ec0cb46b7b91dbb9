//! Signals that this process is sent: the program gets them. Also signals by which processes stop and go on.
//!
//! Each is blocked in all threads and taken by one thread, so no handler runs and none is lost, whatever its number.

#![expect(unsafe_code, reason = "signal masks, sigwaitinfo and kill")]

use std::io;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed,
};

/// Signals that cannot be passed on: two that nobody can take, and the one that tells of children.
const NOT_PASSED_ON: [i32; 3] = [libc::SIGKILL, libc::SIGSTOP, libc::SIGCHLD];

/// Signals that Rust's runtime or we handle otherwise than this process was started with.
const CHANGED: [i32; 3] = [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGCHLD];

/// Their dispositions when this process started.
static BEFORE: [AtomicUsize; 3] = [const { AtomicUsize::new(libc::SIG_DFL) }; 3];

/// Signals that were ignored when this process started, and those that were blocked, a bit each.
static IGNORED: AtomicU64 = AtomicU64::new(0);
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// The program; 0 while there is none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// A process of ours that wakes this one (`stops.rs`); 0 if there is none.
static WAKER: AtomicU32 = AtomicU32::new(0);

/// A signal came that ends programs for good: the terminal is gone, or the system stops.
static END_REQUESTED: AtomicBool = AtomicBool::new(false);

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Signals that are passed on.
fn passed_on() -> impl Iterator<Item = i32> {
    // The C library keeps those between for itself.
    (1..32).chain(libc::SIGRTMIN()..=libc::SIGRTMAX()).filter(|no| !NOT_PASSED_ON.contains(no))
}

/// Notes signal mask and dispositions. Called before Rust's runtime changes them.
pub(super) fn note_what_was_inherited() {
    for (signal, before) in CHANGED.into_iter().zip(&BEFORE) {
        before.store(disposition(signal), Relaxed);
    }
    let ignored = passed_on().filter(|&signal| disposition(signal) == libc::SIG_IGN);
    IGNORED.store(ignored.map(bit).sum(), Relaxed);
    BLOCKED.store(blocked_now(), Relaxed);
    if BEFORE[2].load(Relaxed) == libc::SIG_IGN {
        // Nobody would learn how a child ended.
        // SAFETY: plain system call.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

fn disposition(signal: i32) -> usize {
    // SAFETY: only asks; an all-zero sigaction is valid.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut now);
        now.sa_sigaction
    }
}

fn blocked_now() -> u64 {
    // SAFETY: an all-zero set is valid and is filled.
    let mask = unsafe {
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &raw mut mask);
        mask
    };
    // SAFETY: a valid set, and numbers of signals.
    (1..=64).filter(|&no| unsafe { libc::sigismember(&raw const mask, no) } == 1).map(bit).sum()
}

fn set_of(bits: u64) -> libc::sigset_t {
    // SAFETY: an all-zero set is valid; numbers of signals.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in (1..=64).filter(|&signal| bits & bit(signal) != 0) {
            libc::sigaddset(&raw mut set, signal);
        }
        set
    }
}

fn set_mask(bits: u64) {
    let set = set_of(bits);
    // SAFETY: a valid set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

/// Blocks all signals that are passed on, in this thread and those that it starts.
pub(crate) fn block() {
    set_mask(BLOCKED.load(Relaxed) | passed_on().map(bit).sum::<u64>());
}

/// Lets signals do again what they did when this process started.
pub(crate) fn unblock() {
    set_mask(BLOCKED.load(Relaxed));
}

/// Gives the process that is about to become a program the mask and dispositions that this one was given.
/// Makes async-signal-safe calls only.
pub(super) fn restore_what_was_inherited() {
    for (signal, before) in CHANGED.into_iter().zip(&BEFORE) {
        // SAFETY: plain system call; the disposition is a default one or "ignore", as after every `exec`.
        unsafe { libc::signal(signal, before.load(Relaxed)) };
    }
    unblock();
}

/// From now on a file that reaches the limit is an error, not our end.
pub(super) fn survive_file_limits() {
    // SAFETY: plain system call.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// True if more was meant to end than the program.
pub(super) fn end_requested() -> bool {
    END_REQUESTED.load(Relaxed)
}

/// Names the program. Until then signals wait.
pub(super) fn pass_on_to(program: i32) {
    PROGRAM.store(program, Relaxed);
}

/// Names the process that may wake this one.
pub(super) fn set_waker(process: u32) {
    WAKER.store(process, Relaxed);
}

/// Waits for a signal that is passed on.
fn next() -> Option<libc::siginfo_t> {
    let set = set_of(passed_on().map(bit).sum());
    // SAFETY: a valid set; an all-zero siginfo is valid and is filled.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        (libc::sigwaitinfo(&raw const set, &raw mut info) > 0).then_some(info)
    }
}

/// Calls `with` with each signal that is passed on, for ever. They are blocked in all threads.
pub(super) fn for_each(mut with: impl FnMut(i32)) -> ! {
    loop {
        if let Some(info) = next() {
            with(info.si_signo);
        }
    }
}

/// Starts the thread that passes signals on, once `begun` has a message; it ends if nothing was started. Signals that
/// `is_for_all` tells to be for the whole group are not passed on.
pub(super) fn start(
    begun: std::sync::mpsc::Receiver<()>,
    is_for_all: fn(i32) -> bool,
) -> io::Result<()> {
    std::thread::Builder::new().stack_size(128 * 1024).spawn(move || {
        if begun.recv().is_err() {
            return;
        }
        loop {
            if let Some(info) = next() {
                pass_on(&info, is_for_all);
            }
        }
    })?;
    Ok(())
}

fn pass_on(info: &libc::siginfo_t, is_for_all: fn(i32) -> bool) {
    let signal = info.si_signo;
    let is_ignored = IGNORED.load(Relaxed) & bit(signal) != 0;
    if matches!(signal, libc::SIGHUP | libc::SIGTERM) && !is_ignored {
        END_REQUESTED.store(true, Relaxed);
    }
    // The terminal signals the whole group, so the program has it already.
    if info.si_code > 0 {
        return;
    }
    // SAFETY: a signal that a process sent has these fields.
    let (sender, value) = unsafe { (info.si_pid(), info.si_value()) };
    let program = PROGRAM.load(Relaxed);
    // The program may signal its group or its parent, but not itself in this way.
    if program <= 0 || sender == program || sender as u32 == WAKER.load(Relaxed) {
        return;
    }
    if is_for_all(signal) {
        return;
    }
    // SAFETY: plain system calls; the program is not reaped while PROGRAM names it.
    unsafe {
        if info.si_code == libc::SI_QUEUE {
            libc::sigqueue(program, signal, value);
        } else {
            libc::kill(program, signal);
        }
    }
}

/// Stops this process as `signal` does if nobody handles it.
pub(super) fn stop_by(signal: i32) {
    // SAFETY: plain system calls with valid arguments; the signal is blocked in all other threads, and its handling and the mask
    // are as before afterwards.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        // This thread alone is meant: another one waits for it.
        libc::raise(signal);
        if signal != libc::SIGSTOP {
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        }
    }
}

/// Continues a process.
pub(super) fn wake(pid: u32) {
    // SAFETY: plain system call.
    unsafe { libc::kill(pid as i32, libc::SIGCONT) };
}
