//! Stands before libc's functions that wait for children.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use memtrail_agent::waits::{Waited, has_only_copies, is_hidden, sees_copies};

type Wait = unsafe extern "C" fn(libc::pid_t, *mut c_int, c_int) -> libc::pid_t;
type Wait4 = unsafe extern "C" fn(libc::pid_t, *mut c_int, c_int, *mut c_void) -> libc::pid_t;
type WaitId =
    unsafe extern "C" fn(libc::idtype_t, libc::id_t, *mut libc::siginfo_t, c_int) -> c_int;

/// The functions after ours.
static WAITPID: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static WAIT4: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static WAITID: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Finds them: in a forked child, another thread's lock on the dynamic linker may be held for ever.
pub(crate) fn find() {
    next(&WAITPID, c"waitpid");
    next(&WAIT4, c"wait4");
    next(&WAITID, c"waitid");
}

fn next(known: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let mut function = known.load(Relaxed);
    if function.is_null() {
        // SAFETY: a C string; finds the definition after ours.
        function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        known.store(function, Relaxed);
    }
    function
}

fn fails(errno: c_int) -> c_int {
    // SAFETY: this thread's errno.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// Waits by `wait` until it returns something that is not a copy of ours.
fn without_copies(wait: impl Fn(&mut c_int) -> libc::pid_t) -> libc::pid_t {
    loop {
        if has_only_copies() {
            return fails(libc::ECHILD);
        }
        let mut status = 0;
        let pid = wait(&mut status);
        // A copy may have been made in between.
        if pid == 0 && has_only_copies() {
            return fails(libc::ECHILD);
        }
        if pid <= 0 || !is_hidden(&Waited { pid, status, is_left: false }) {
            return pid;
        }
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn waitpid(
    process: libc::pid_t,
    status: *mut c_int,
    options: c_int,
) -> libc::pid_t {
    let own = next(&WAITPID, c"waitpid");
    if own.is_null() {
        return fails(libc::ENOSYS);
    }
    // SAFETY: libc's function of this name has this type.
    let own = unsafe { transmute::<*mut c_void, Wait>(own) };
    if process > 0 || !sees_copies(options) {
        // SAFETY: the caller's arguments.
        return unsafe { own(process, status, options) };
    }
    without_copies(|found| {
        // SAFETY: the caller's arguments, with a place of ours for the status.
        unsafe {
            let pid = own(process, found, options);
            if pid > 0 && !status.is_null() {
                *status = *found;
            }
            pid
        }
    })
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wait4(
    process: libc::pid_t,
    status: *mut c_int,
    options: c_int,
    usage: *mut c_void,
) -> libc::pid_t {
    let own = next(&WAIT4, c"wait4");
    if own.is_null() {
        return fails(libc::ENOSYS);
    }
    // SAFETY: libc's function of this name has this type.
    let own = unsafe { transmute::<*mut c_void, Wait4>(own) };
    if process > 0 || !sees_copies(options) {
        // SAFETY: the caller's arguments.
        return unsafe { own(process, status, options, usage) };
    }
    without_copies(|found| {
        // SAFETY: the caller's arguments, with a place of ours for the status.
        unsafe {
            let pid = own(process, found, options, usage);
            if pid > 0 && !status.is_null() {
                *status = *found;
            }
            pid
        }
    })
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wait3(
    status: *mut c_int,
    options: c_int,
    usage: *mut c_void,
) -> libc::pid_t {
    // SAFETY: the caller's arguments; libc's own does the same.
    unsafe { wait4(-1, status, options, usage) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn waitid(
    kind: libc::idtype_t,
    id: libc::id_t,
    found: *mut libc::siginfo_t,
    options: c_int,
) -> c_int {
    let own = next(&WAITID, c"waitid");
    if own.is_null() {
        return fails(libc::ENOSYS);
    }
    // SAFETY: libc's function of this name has this type.
    let own = unsafe { transmute::<*mut c_void, WaitId>(own) };
    let is_of_one = kind == libc::P_PID || kind == libc::P_PIDFD;
    if is_of_one || found.is_null() || !sees_copies(options) {
        // SAFETY: the caller's arguments.
        return unsafe { own(kind, id, found, options) };
    }
    loop {
        if has_only_copies() {
            return fails(libc::ECHILD);
        }
        // SAFETY: the caller's arguments; what is read was written by the call, which succeeded.
        unsafe {
            let failed = own(kind, id, found, options);
            if failed != 0 {
                return failed;
            }
            let pid = (*found).si_pid();
            // A copy may have been made in between.
            if pid == 0 && has_only_copies() {
                return fails(libc::ECHILD);
            }
            let status = match ((*found).si_code, (*found).si_status()) {
                (libc::CLD_EXITED, code) => code << 8,
                (_, signal) => signal & 0x7f,
            };
            let is_left = options & libc::WNOWAIT != 0;
            if pid <= 0 || !is_hidden(&Waited { pid, status, is_left }) {
                return failed;
            }
        }
    }
}
