//! Stands before libc's functions by which a program forbids itself system calls: libseccomp calls them, too.

use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memtrail_agent::seccomp::{Forbids, before_seccomp};

type Control = unsafe extern "C" fn(c_int, c_ulong, c_ulong, c_ulong, c_ulong) -> c_int;
type Call = unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;

/// libc's functions; 0 until they are found.
static PRCTL: AtomicUsize = AtomicUsize::new(0);
static SYSCALL: AtomicUsize = AtomicUsize::new(0);

fn found(known: &AtomicUsize, name: &std::ffi::CStr) -> usize {
    let mut function = known.load(Relaxed);
    if function == 0 {
        // SAFETY: a C string; finds the definition after ours.
        function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
        known.store(function, Relaxed);
    }
    function
}

/// Finds them: in a forked child, another thread's lock on the dynamic linker may be held for ever.
pub(crate) fn find() {
    found(&PRCTL, c"prctl");
    found(&SYSCALL, c"syscall");
}

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
    // SAFETY: libc has this function; the caller's arguments.
    unsafe { transmute::<usize, Control>(found(&PRCTL, c"prctl"))(option, a, b, c, d) }
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
    if number == libc::SYS_seccomp {
        if a == c_long::from(libc::SECCOMP_SET_MODE_STRICT) {
            before_seccomp(Forbids::Most);
        } else if a == c_long::from(libc::SECCOMP_SET_MODE_FILTER) {
            before_seccomp(Forbids::ByFilter(pointer(c as usize)));
        }
    }
    // SAFETY: libc has this function; the caller's arguments.
    unsafe { transmute::<usize, Call>(found(&SYSCALL, c"syscall"))(number, a, b, c, d, e, f) }
}

fn pointer(address: usize) -> *const c_void {
    std::ptr::without_provenance(address)
}
