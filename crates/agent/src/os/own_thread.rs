//! Threads of ours in the target. They take no signals and run none of its code.
//!
//! A process lives until its last thread ends, and libc counts ours. So when the program's main thread
//! ends before others do (`Thread.exit`, `pthread_exit`), ours end first, and the main thread waits for
//! that, a second at most. From there on the process ends when it would alone, on the thread on which
//! it would. What our threads did is then left to the program's own, when they allocate. A main thread that ends by
//! the system call alone, unseen by us, is gone when one of ours next looks.
//!
//! For calls that the kernel allows a process with one thread alone, ours end, and begin again afterwards.

use std::ffi::c_void;
use std::os::unix::fs::MetadataExt as _;
use std::ptr;
use std::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use std::time::Duration;

use memtrail_sampler::without_signals;

use crate::os::clock::pause;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::guarded;

/// What such a thread does.
pub(crate) type Run = extern "C" fn();

/// Threads of ours, and what they must know.
struct OwnThreads {
    /// 1 once the main thread has ended; a futex that the threads sleep on.
    main_has_ended: AtomicU32,
    /// Their ids; 0 where there is none. More than there ever are.
    ids: [AtomicI32; 8],
    /// Those that were started, and have no place among the ids yet.
    beginning: AtomicU32,
    /// The process that they are in: a fork has none of them.
    process: AtomicI32,
    /// What was started in this process; null where there is nothing.
    started: [AtomicPtr<c_void>; 8],
    /// Counts calls of those that sleep until they are called; a futex.
    calls: AtomicU32,
    /// Wakes those that sleep on words of their own.
    wake: AtomicPtr<c_void>,
}

static OWN: OwnThreads = OwnThreads {
    main_has_ended: AtomicU32::new(0),
    ids: [const { AtomicI32::new(0) }; 8],
    beginning: AtomicU32::new(0),
    process: AtomicI32::new(0),
    started: [const { AtomicPtr::new(ptr::null_mut()) }; 8],
    calls: AtomicU32::new(0),
    wake: AtomicPtr::new(ptr::null_mut()),
};

/// How long the main thread waits for ours, in milliseconds.
const PATIENCE: u32 = 1_000;
/// How long a program waits for ours that would be ended for what they do: one of them may take a snapshot.
pub(crate) const LONG_PATIENCE: u32 = 30_000;
/// Stack of a thread that is started again: its work is done on the private stack.
const STACK: usize = 128 * 1024;
/// In nanoseconds.
const MILLISECOND: u32 = 1_000_000;

/// Whether the program's main thread has ended, and no thread of ours is to run.
#[inline]
pub(crate) fn main_has_ended() -> bool {
    OWN.main_has_ended.load(Relaxed) != 0
}

fn pid() -> i32 {
    // SAFETY: plain system call.
    unsafe { libc::getpid() }
}

fn gettid() -> i32 {
    // SAFETY: plain system call.
    unsafe { libc::gettid() }
}

fn exists(thread: i32) -> bool {
    // SAFETY: signal 0 only asks.
    unsafe { libc::syscall(libc::SYS_tgkill, pid(), thread, 0) == 0 }
}

/// True if this thread is the only one of the process. One that has just ended is listed for a moment, which is waited
/// for.
pub(crate) fn is_alone() -> bool {
    const LOOKS: u32 = 20;
    // A folder has a link of its own, one in its parent, and one in each folder inside.
    let look = || std::fs::metadata("/proc/self/task").is_ok_and(|tasks| tasks.nlink() == 3);
    (0..LOOKS).any(|_| {
        let is_alone = look();
        if !is_alone {
            pause(MILLISECOND);
        }
        is_alone
    })
}

/// The most that is tried where the program has much thread-local data, in bytes.
const LARGEST_STACK: usize = 64 << 20;

/// Starts one with so many bytes of stack, as far as more threads are allowed: false if they are not.
pub(crate) fn start(stack: usize, run: Run) -> bool {
    if OWN.process.swap(pid(), SeqCst) != pid() {
        OWN.main_has_ended.store(0, SeqCst);
        OWN.beginning.store(0, SeqCst);
        for thread in &OWN.ids {
            thread.store(0, SeqCst);
        }
        for run in &OWN.started {
            run.store(ptr::null_mut(), SeqCst);
        }
    }
    if main_has_ended() || !begin_thread(stack, run) {
        return false;
    }
    let (none, run) = (ptr::null_mut(), run as *mut c_void);
    let note =
        |place: &&AtomicPtr<c_void>| place.compare_exchange(none, run, SeqCst, Relaxed).is_ok();
    let _ = OWN.started.iter().find(note);
    true
}

/// Lets threads begin again in this process, after all had ended.
pub(crate) fn begin_anew() {
    OWN.main_has_ended.store(0, SeqCst);
    for thread in OWN.ids.iter().filter(|thread| !exists(thread.load(SeqCst))) {
        thread.store(0, SeqCst);
    }
    for run in &OWN.started {
        run.store(ptr::null_mut(), SeqCst);
    }
}

/// Makes the thread.
fn begin_thread(stack: usize, run: Run) -> bool {
    // SAFETY: every call gets valid arguments; the signal mask is put back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut thread: libc::pthread_t = 0;
        if libc::pthread_attr_init(&raw mut attributes) != 0 {
            return false;
        }
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_attr_setstacksize(&raw mut attributes, stack);
        OWN.beginning.fetch_add(1, SeqCst);
        // libc takes the program's thread-local variables out of the stack, and refuses what is too small.
        let mut stack = stack;
        let failed = without_signals(|| {
            loop {
                let run = run as *mut c_void;
                let attributes = &raw mut attributes;
                let error = libc::pthread_create(&raw mut thread, attributes, begin, run);
                if error != libc::EINVAL || stack >= LARGEST_STACK {
                    break error;
                }
                stack *= 2;
                libc::pthread_attr_setstacksize(attributes, stack);
            }
        });
        libc::pthread_attr_destroy(&raw mut attributes);
        if failed != 0 {
            OWN.beginning.fetch_sub(1, SeqCst);
        }
        failed == 0
    }
}

extern "C" fn begin(run: *mut c_void) -> *mut c_void {
    // SAFETY: `start` passes a function of this type, and a C string; it names only this thread.
    let run = unsafe {
        libc::prctl(libc::PR_SET_NAME, c"memtrail".as_ptr());
        std::mem::transmute::<*mut c_void, Run>(run)
    };
    let me = gettid();
    let free = |place: &&AtomicI32| place.compare_exchange(0, me, SeqCst, Relaxed).is_ok();
    let place = OWN.ids.iter().find(free);
    OWN.beginning.fetch_sub(1, SeqCst);
    if OWN.main_has_ended.load(SeqCst) == 0 {
        run();
    }
    end_as_main_did();
    // The main thread waits until the thread itself is gone.
    if let Some(place) = place.filter(|_| !main_has_ended()) {
        place.store(0, SeqCst);
    }
    ptr::null_mut()
}

/// Ends this thread with the code of the main thread, if that ended by the system call alone. The process may end with
/// this thread, and has the code of its last one (since Linux 5.17). libc would end the thread with 0.
fn end_as_main_did() {
    if !main_has_ended() || !main_is_gone() {
        return;
    }
    if let Some(code) = guarded(None, code_of_main) {
        // SAFETY: ends this thread, which runs none of the program's code and holds nothing of libc's.
        unsafe { libc::syscall(libc::SYS_exit, code) };
    }
}

/// Exit code of the main thread, which has ended; nothing if a signal ended it.
fn code_of_main() -> Option<i32> {
    /// Which field of `/proc/PID/stat` it is, counted from the state, which follows the name.
    const EXIT_CODE: usize = 49;
    let text = std::fs::read_to_string(format!("/proc/self/task/{}/stat", pid())).ok()?;
    let fields = text.rsplit(')').next()?;
    let status: i32 = fields.split_ascii_whitespace().nth(EXIT_CODE)?.parse().ok()?;
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

/// Sleeps so many milliseconds, less if the main thread ends. False if it has ended.
pub(crate) fn sleep(milliseconds: u64) -> bool {
    wait(&OWN.main_has_ended, 0, Duration::from_millis(milliseconds));
    look_at_main()
}

/// Counts the calls of threads that sleep in [`sleep_until_called`].
pub(crate) fn calls() -> u32 {
    OWN.calls.load(SeqCst)
}

/// Calls them. A signal handler may do that.
pub(crate) fn call() {
    OWN.calls.fetch_add(1, SeqCst);
    wake(&OWN.calls);
}

/// Sleeps so many milliseconds, less if there are other [`calls`] than these, or if the main thread ends. False if it has
/// ended.
pub(crate) fn sleep_until_called(calls: u32, milliseconds: u64) -> bool {
    wait(&OWN.calls, calls, Duration::from_millis(milliseconds));
    look_at_main()
}

/// Has all threads of ours end if the main thread is gone. False if it has ended.
fn look_at_main() -> bool {
    if !main_has_ended() && main_is_gone() {
        OWN.main_has_ended.store(1, SeqCst);
        wake_all();
    }
    !main_has_ended()
}

/// True if the main thread is gone: it may have ended by the system call alone. A thread that has ended has no memory to
/// be read, and asking for that takes no descriptor.
pub(crate) fn main_is_gone() -> bool {
    let (from, mut to) = (0_u8, 0_u8);
    let local = libc::iovec { iov_base: (&raw mut to).cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: (&raw const from).cast_mut().cast(), iov_len: 1 };
    // SAFETY: reads a byte of this function's into another one.
    let read =
        unsafe { libc::process_vm_readv(pid(), &raw const local, 1, &raw const remote, 1, 0) };
    read < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

/// Notes what wakes threads of ours that sleep on words of their own.
pub(crate) fn prepare(wake: fn()) {
    OWN.wake.store(wake as *mut c_void, SeqCst);
}

/// Wakes all threads of ours: they are to end.
fn wake_all() {
    wake(&OWN.main_has_ended);
    call();
    let wake = OWN.wake.load(SeqCst);
    if !wake.is_null() {
        // SAFETY: `prepare` alone sets it, to a function of this type.
        unsafe { std::mem::transmute::<*mut c_void, fn()>(wake)() };
    }
}

/// Ends the threads of ours for a moment. False if this process has none.
pub(crate) fn pause_ours() -> bool {
    if OWN.process.load(SeqCst) != pid() || main_has_ended() {
        return false;
    }
    end_ours(LONG_PATIENCE);
    true
}

/// Starts those again that were ended for a moment.
pub(crate) fn start_again() {
    for thread in &OWN.ids {
        thread.store(0, SeqCst);
    }
    OWN.main_has_ended.store(0, SeqCst);
    for run in OWN.started.iter().map(|place| place.load(SeqCst)).filter(|run| !run.is_null()) {
        // SAFETY: `start` alone notes them, functions of this type.
        let run = unsafe { std::mem::transmute::<*mut c_void, Run>(run) };
        // Allocations of libc's for the thread are not the program's.
        memtrail_sampler::events::suspended(|| begin_thread(STACK, run));
    }
}

/// Sleeps for a time, at most until a word of ours has not this value any more and somebody wakes who sleeps
/// on it.
pub(crate) fn wait(word: &AtomicU32, value: u32, time: Duration) {
    let time =
        libc::timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    // SAFETY: a word of ours and a valid duration.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time);
    }
}

/// Wakes who sleeps on a word of ours.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: a word of ours.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Gives this thread a table of descriptors of its own, an empty one: what it opens for a moment takes
/// no number that the program might count on. Before Linux 5.9 it goes without.
pub(crate) fn part_with_descriptors() {
    // SAFETY: concerns this thread, which uses none that is open.
    unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
}

/// A thread of the program ends: if it is the main one, ours do. True if it is.
pub(crate) fn one_of_theirs_ends() -> bool {
    if gettid() != pid() || OWN.process.load(SeqCst) != pid() {
        return false;
    }
    end_ours(PATIENCE);
    true
}

/// Has the threads of ours end, if this process has any, and waits for it, for so many milliseconds. None begins
/// any more.
pub(crate) fn end_ours(patience: u32) {
    end_but(0, patience);
}

/// Has all threads of ours end but this one, and waits as long as one of them may take a snapshot.
pub(crate) fn end_others() {
    end_but(gettid(), LONG_PATIENCE);
}

fn end_but(spared: i32, patience: u32) {
    if OWN.process.load(SeqCst) != pid() {
        return;
    }
    OWN.main_has_ended.store(1, SeqCst);
    keeping_errno(|| {
        wake_all();
        let some_exist = || {
            let mut ids = OWN.ids.iter().map(|thread| thread.load(SeqCst));
            OWN.beginning.load(SeqCst) != 0 || ids.any(|id| id != 0 && id != spared && exists(id))
        };
        let mut waited = 0;
        while some_exist() && waited < patience {
            pause(MILLISECOND);
            waited += 1;
        }
    });
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::AtomicBool;

    use super::*;

    const MUCH: usize = 512 << 10;

    thread_local! {
        static DATA: [Cell<u8>; MUCH] = const { [const { Cell::new(0) }; MUCH] };
    }

    static RAN: AtomicBool = AtomicBool::new(false);

    extern "C" fn runs() {
        DATA.with(|data| data[MUCH - 1].set(1));
        RAN.store(true, SeqCst);
    }

    /// Flow 0.250 has 334 KiB: no thread began, and no snapshot was taken while it ran.
    #[test]
    fn much_thread_local_data_does_not_keep_a_thread_from_beginning() {
        start(128 << 10, runs);
        let ran = || RAN.load(SeqCst);
        assert!((0..10_000).any(|_| {
            pause(MILLISECOND);
            ran()
        }));
    }
}
