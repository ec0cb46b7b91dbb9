//! What happens as the library is loaded, when the runtime is ready, and at the process's end.
//!
//! Loading only looks. Every OCaml runtime asks `readlink("/proc/self/exe")` for its own name when its
//! heap is ready and no OCaml code has run (`caml_executable_name` in `runtime/unix.c`): there sampling
//! begins.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Relaxed},
};

use crate::context::runtime;
use crate::lifecycle::environment::Injected;
use crate::lifecycle::pending_start::{PendingStart, prepare};
use crate::lifecycle::start;
use crate::os::ffi_guard;
use crate::os::forked;
use crate::recording::recorder;
use crate::sampling::thread;

static PENDING: AtomicPtr<PendingStart> = AtomicPtr::new(std::ptr::null_mut());
static INJECTED: AtomicPtr<Injected> = AtomicPtr::new(std::ptr::null_mut());
/// The process whose end has been seen to.
static ENDED: AtomicU32 = AtomicU32::new(0);

/// The launcher's variables, kept for programs that this process becomes.
pub(crate) fn injected() -> Option<&'static Injected> {
    // SAFETY: null, or leaked for the life of the process.
    unsafe { INJECTED.load(Relaxed).as_ref() }
}

/// The library has been loaded into a process with these arguments.
///
/// # Safety
/// Called once, before anything is allocated and while the process has one thread. `arguments` are
/// so many C strings, which live as long as the process.
pub unsafe fn load(count: c_int, arguments: *const *const c_char) {
    // SAFETY: called once, before anything is allocated: a child must not inherit a locked heap.
    unsafe { dlmalloc::enable_alloc_after_fork() };
    ffi_guard::guarded((), || {
        let Some(injected) = Injected::find() else { return };
        ffi_guard::install();
        // SAFETY: as the caller promises.
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

/// The process is about to end, by whatever way. Nothing is touched in a child of `vfork`, whose memory
/// is its parent's.
pub fn end_of_process() {
    if forked::is_owner_itself() && ENDED.swap(forked::owner(), AcqRel) != forked::owner() {
        ffi_guard::guarded((), recorder::end_of_process);
    }
}

/// The program is about to ask where a symbolic link leads.
///
/// # Safety
/// `path` is null or a C string.
pub unsafe fn on_readlink(path: *const c_char) {
    if PENDING.load(Relaxed).is_null() {
        return;
    }
    // SAFETY: as the caller promises.
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
