//! Stands before libc's functions by which a program forbids itself system calls: libseccomp calls them, too.

use std::ffi::{c_int, c_long, c_ulong, c_void};

use memtrail_agent::exits_alone;
use memtrail_agent::seccomp::{Forbids, before_seccomp};

use crate::exec::{execve, execveat};
use crate::own_calls::{own_prctl, own_syscall};

/// libc's has as many of these arguments as the option asks for.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prctl(
    option: c_int,
    a: c_ulong,
    b: c_ulong,
    c: c_ulong,
    d: c_ulong,
) -> c_int {
    if option == libc::PR_SET_SECCOMP {
        if a == c_ulong::from(libc::SECCOMP_MODE_STRICT) {
            before_seccomp(Forbids::Most);
        } else if a == c_ulong::from(libc::SECCOMP_MODE_FILTER) {
            before_seccomp(Forbids::ByFilter(pointer(b as usize)));
        }
    }
    // SAFETY: the caller's arguments.
    unsafe { own_prctl(option, a, b, c, d) }
}

/// libc's has as many of these arguments as the system call asks for, and reads them all.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    if number == libc::SYS_exit {
        exits_alone();
    }
    if number == libc::SYS_execve {
        let [path, arguments, vars] = [a, b, c].map(|address| pointer(address as usize));
        // SAFETY: the caller's arguments.
        return c_long::from(unsafe { execve(path.cast(), arguments.cast(), vars.cast()) });
    }
    if number == libc::SYS_execveat {
        let [path, arguments, vars] = [b, c, d].map(|address| pointer(address as usize));
        let (folder, flags) = (a as c_int, e as c_int);
        // SAFETY: the caller's arguments.
        return c_long::from(unsafe {
            execveat(folder, path.cast(), arguments.cast(), vars.cast(), flags)
        });
    }
    if number == libc::SYS_seccomp {
        if a == c_long::from(libc::SECCOMP_SET_MODE_STRICT) {
            before_seccomp(Forbids::Most);
        } else if a == c_long::from(libc::SECCOMP_SET_MODE_FILTER) {
            let in_all_threads = b & libc::SECCOMP_FILTER_FLAG_TSYNC as c_long != 0;
            let filter = pointer(c as usize);
            before_seccomp(if in_all_threads {
                Forbids::ByFilterInAllThreads(filter)
            } else {
                Forbids::ByFilter(filter)
            });
        }
    }
    // SAFETY: the caller's arguments.
    unsafe { own_syscall(number, a, b, c, d, e, f) }
}

fn pointer(address: usize) -> *const c_void {
    std::ptr::without_provenance(address)
}
