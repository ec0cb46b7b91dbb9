//! How control gets here: the library's constructor, one call that every OCaml runtime makes, and
//! the process's ways out.
//!
//! The constructor only looks. Every OCaml runtime asks `readlink("/proc/self/exe")` for its own name
//! when its heap is ready and no OCaml code has run (`caml_executable_name` in `runtime/unix.c`):
//! there sampling begins.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Relaxed},
};

use crate::environment::Injected;
use crate::pending_start::{PendingStart, prepare};
use crate::{ffi_guard, forked, recorder, runtime, start, thread};

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char) = constructor;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = destructor;

static PENDING: AtomicPtr<PendingStart> = AtomicPtr::new(std::ptr::null_mut());
static INJECTED: AtomicPtr<Injected> = AtomicPtr::new(std::ptr::null_mut());
/// The process whose end has been seen to.
static ENDED: AtomicU32 = AtomicU32::new(0);

/// The launcher's variables, kept for programs that this process becomes.
pub(crate) fn injected() -> Option<&'static Injected> {
    // SAFETY: null, or leaked for the life of the process.
    unsafe { INJECTED.load(Relaxed).as_ref() }
}

extern "C" fn constructor(count: c_int, arguments: *const *const c_char) {
    // SAFETY: called once, before anything is allocated: a child must not inherit a locked heap.
    unsafe { dlmalloc::enable_alloc_after_fork() };
    ffi_guard::guarded((), || {
        let Some(injected) = Injected::find() else { return };
        ffi_guard::install();
        // SAFETY: the loader passes the program's arguments.
        let arguments = (0..count.max(0) as usize)
            .map(|i| unsafe { CStr::from_ptr(*arguments.add(i)) }.to_string_lossy().into_owned())
            .collect();
        let injected = Box::leak(Box::new(injected));
        INJECTED.store(injected, Relaxed);
        if let Some(pending) = prepare(injected, arguments) {
            thread::prepare();
            PENDING.store(Box::into_raw(Box::new(pending)), Relaxed);
        }
    });
}

extern "C" fn destructor() {
    end_of_process();
}

/// The process is about to end, by whatever way. Nothing is touched in a child of `vfork`, whose memory
/// is its parent's.
pub(crate) fn end_of_process() {
    if forked::is_owner_itself() && ENDED.swap(forked::owner(), AcqRel) != forked::owner() {
        ffi_guard::guarded((), recorder::end_of_process);
    }
}

fn on_readlink(path: *const c_char) {
    if PENDING.load(Relaxed).is_null() {
        return;
    }
    // SAFETY: the caller's path is a C string, as the system call would demand.
    if path.is_null() || unsafe { CStr::from_ptr(path) } != c"/proc/self/exe" {
        return;
    }
    // A program may ask for itself before it starts the runtime, which then asks again.
    if !ffi_guard::guarded(true, runtime::is_ready) {
        return;
    }
    let pending = PENDING.swap(std::ptr::null_mut(), AcqRel);
    if !pending.is_null() {
        // SAFETY: it came from a box, and only one swap sees it.
        let pending = unsafe { Box::from_raw(pending) };
        ffi_guard::keeping_errno(|| ffi_guard::guarded((), || start::start(*pending)));
    }
}

/// Stands before libc's `readlink`.
///
/// # Safety
/// As `readlink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readlink(path: *const c_char, into: *mut c_char, size: usize) -> isize {
    on_readlink(path);
    // SAFETY: the caller's arguments; `syscall` sets errno as libc's own would.
    unsafe { libc::syscall(libc::SYS_readlinkat, libc::AT_FDCWD, path, into, size) as isize }
}

/// Stands before the variant that programs compiled with `_FORTIFY_SOURCE` call.
///
/// # Safety
/// As `readlink`; `room` is the size of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __readlink_chk(
    path: *const c_char,
    into: *mut c_char,
    size: usize,
    room: usize,
) -> isize {
    if size > room {
        // What libc's own does, after a message.
        std::process::abort();
    }
    // SAFETY: as above.
    unsafe { readlink(path, into, size) }
}

/// Stands before libc's `_exit`, which runs no destructors.
///
/// # Safety
/// As `_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(code: c_int) -> ! {
    leave(code)
}

fn leave(code: c_int) -> ! {
    end_of_process();
    // SAFETY: ends the process.
    unsafe { libc::syscall(libc::SYS_exit_group, code) };
    std::process::abort()
}

/// Stands before libc's `_Exit`, which is the same.
///
/// # Safety
/// As `_Exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(code: c_int) -> ! {
    leave(code)
}
