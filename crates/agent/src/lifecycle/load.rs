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

use crate::context::runtime::{OcamlRuntime, version};
use crate::lifecycle::environment::Injected;
use crate::lifecycle::generation::generation_of;
use crate::lifecycle::pending_start::{PendingStart, prepare};
use crate::lifecycle::recorded::{self, Recorded};
use crate::lifecycle::{injected, start, thread_end};
use crate::os::errno::keeping_errno;
use crate::os::{deadly_signal, ffi_guard, forked, heap};
use crate::recording;
use crate::sampling::handover;
use crate::snapshot;

/// Where this process is in its life.
struct ProcessState {
    /// What is started once the runtime is ready.
    pending: AtomicPtr<PendingStart>,
    /// The process whose end has been seen to.
    ended: AtomicU32,
}

static PROCESS: ProcessState =
    ProcessState { pending: AtomicPtr::new(std::ptr::null_mut()), ended: AtomicU32::new(0) };

/// What the recording of an OCaml program can do.
static RECORDED: Recorded = Recorded {
    has_begun: recording::installed::is_recorded,
    follows_children: recording::installed::follows_children,
    takes_snapshots: recording::installed::takes_snapshots,
    // All that it has is asked for by then.
    give_up_last: || {},
    before_exec: || {
        keeping_errno(snapshot::lifecycle::before_exec);
        keeping_errno(deadly_signal::uninstall);
        recording::end::before_exec();
    },
    after_failed_exec: recording::end::after_failed_exec,
    end_with_note: |words| {
        keeping_errno(snapshot::lifecycle::before_exec);
        recording::end::end_with_note(words);
        thread_end::end_ours();
        handover::end_sampling();
    },
};

/// The library has been loaded into a process with these arguments.
///
/// # Safety
/// Called once, before anything is allocated and while the process has one thread. `arguments` are
/// so many C strings, which live as long as the process.
pub unsafe fn load(count: c_int, arguments: *const *const c_char) {
    // SAFETY: as the caller promises.
    unsafe { heap::prepare() };
    ffi_guard::guarded((), || {
        let Some(injected) = Injected::find() else { return };
        install();
        // SAFETY: as the caller promises.
        let arguments = unsafe { texts(count, arguments) };
        if let Some(pending) = prepare(injected::keep(injected), arguments) {
            thread_end::prepare();
            PROCESS.pending.store(Box::into_raw(Box::new(pending)), Relaxed);
        }
    });
}

fn install() {
    recorded::install(&RECORDED, for_want_of_memory);
}

/// Gets the library ready in a program that runs, once.
pub(crate) fn begin_library() {
    install();
    thread_end::prepare();
}

fn for_want_of_memory() {
    // This may be one of our threads, and holds what others wait for: nobody waits for them.
    thread_end::notify_ours();
    recording::end::for_want_of_memory();
}

/// Copies a program's arguments.
///
/// # Safety
/// `arguments` are so many C strings.
pub(crate) unsafe fn texts(count: c_int, arguments: *const *const c_char) -> Vec<String> {
    (0..count.max(0) as usize)
        // SAFETY: as the caller promises.
        .map(|i| unsafe { CStr::from_ptr(*arguments.add(i)) }.to_string_lossy().into_owned())
        .collect()
}

/// The process is about to end, by whatever way. Nothing is touched in a child of `vfork`, whose memory
/// is its parent's.
pub fn end_of_process() {
    if forked::is_owner_itself() && PROCESS.ended.swap(forked::owner(), AcqRel) != forked::owner() {
        ffi_guard::guarded((), || {
            keeping_errno(snapshot::lifecycle::end_of_process);
            recording::end::end_of_process();
        });
    }
}

/// The program is about to ask where a symbolic link leads.
///
/// # Safety
/// `path` is null or a C string.
pub unsafe fn on_readlink(path: *const c_char) {
    if PROCESS.pending.load(Relaxed).is_null() {
        return;
    }
    // SAFETY: as the caller promises.
    if path.is_null() || unsafe { CStr::from_ptr(path) } != c"/proc/self/exe" {
        return;
    }
    // A program may ask for itself before it starts the runtime, which then asks again.
    if !ffi_guard::guarded(true, is_ready) {
        return;
    }
    let pending = PROCESS.pending.swap(std::ptr::null_mut(), AcqRel);
    if !pending.is_null() {
        // SAFETY: it came from a box, and only one swap sees it.
        let pending = unsafe { Box::from_raw(pending) };
        keeping_errno(|| ffi_guard::guarded((), || start::start(*pending)));
    }
}

/// Whether the runtime has a heap. Where that cannot be told, whoever looks closer will say why.
fn is_ready() -> bool {
    let Ok(version) = version() else { return true };
    OcamlRuntime::find(version, generation_of(version)).map_or(true, |runtime| runtime.is_ready())
}
