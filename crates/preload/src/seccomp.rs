//! Stands before libc's functions by which a program forbids itself system calls: libseccomp calls them, too.

use std::arch::asm;
use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use memtrail_agent::exits_alone;
use memtrail_agent::seccomp::{Forbids, before_seccomp};

use crate::exec::{execve, execveat};

type Control = unsafe extern "C" fn(c_int, c_ulong, c_ulong, c_ulong, c_ulong) -> c_int;
type Call = unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;

/// The functions after ours; until they are found, what does the same. Allocators that a library calls before this one is
/// ready make system calls by them, and asking the dynamic linker could call the allocator.
static PRCTL: AtomicPtr<c_void> = AtomicPtr::new(early_prctl as *mut c_void);
static SYSCALL: AtomicPtr<c_void> = AtomicPtr::new(early_syscall as *mut c_void);

/// Finds them.
pub(crate) fn find() {
    for (known, name) in [(&PRCTL, c"prctl"), (&SYSCALL, c"syscall")] {
        // SAFETY: a C string; finds the definition after ours.
        let function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        if !function.is_null() {
            known.store(function, Relaxed);
        }
    }
}

unsafe extern "C" fn early_prctl(
    option: c_int,
    a: c_ulong,
    b: c_ulong,
    c: c_ulong,
    d: c_ulong,
) -> c_int {
    let [a, b, c, d] = [a, b, c, d].map(|argument| argument as c_long);
    // SAFETY: as the caller promises.
    unsafe { early_syscall(libc::SYS_prctl, c_long::from(option), a, b, c, d, 0) as c_int }
}

unsafe extern "C" fn early_syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    let result: c_long;
    // SAFETY: as the caller promises.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
        );
        #[cfg(target_arch = "aarch64")]
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
        );
    }
    // The kernel's errors.
    if (-4095..0).contains(&result) {
        // SAFETY: this thread's errno.
        unsafe { *libc::__errno_location() = -result as c_int };
        return -1;
    }
    result
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
    // SAFETY: always a function of this type; the caller's arguments.
    unsafe { transmute::<*mut c_void, Control>(PRCTL.load(Relaxed))(option, a, b, c, d) }
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

/// Calls the function after ours.
///
/// # Safety
/// As libc's.
pub(crate) unsafe fn own_syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    // SAFETY: always a function of this type; the caller's arguments.
    unsafe { transmute::<*mut c_void, Call>(SYSCALL.load(Relaxed))(number, a, b, c, d, e, f) }
}

fn pointer(address: usize) -> *const c_void {
    std::ptr::without_provenance(address)
}
