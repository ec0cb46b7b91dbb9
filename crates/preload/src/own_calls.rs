//! Libc's `prctl` and `syscall`, before which functions of ours stand.

use std::arch::asm;
use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

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

/// Calls the function after ours.
///
/// # Safety
/// As libc's.
pub(crate) unsafe fn own_prctl(
    option: c_int,
    a: c_ulong,
    b: c_ulong,
    c: c_ulong,
    d: c_ulong,
) -> c_int {
    // SAFETY: always a function of this type; the caller's arguments.
    unsafe { transmute::<*mut c_void, Control>(PRCTL.load(Relaxed))(option, a, b, c, d) }
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
