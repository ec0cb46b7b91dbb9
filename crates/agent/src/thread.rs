//! What the agent keeps for each thread of the target that runs OCaml code.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use memtrail_trace::Code;

use crate::callstack::{CachedStack, Places};
use crate::threads::{Author, Identity};
use crate::tls;
use crate::value::SomeBlock;

/// State of one thread; only that thread touches it.
pub(crate) struct Thread {
    /// Its callstack at the last sample.
    pub(crate) stack: CachedStack,
    /// Places of allocations that its samples fell into.
    pub(crate) places: Places,
    /// Scratch: a callstack that the runtime captured itself.
    pub(crate) captured: Vec<Code>,
    /// The result that callbacks on this thread return.
    pub(crate) some: SomeBlock,
    /// Who it is.
    pub(crate) identity: Identity,
}

impl Thread {
    /// Whose its blocks are.
    pub(crate) fn author(&self) -> Author {
        self.identity.author
    }
}

/// Value 0 means that no key exists (yet).
static KEY: AtomicU32 = AtomicU32::new(0);

/// Arranges for the state of threads that end to be freed.
pub(crate) fn prepare() {
    let mut key = 0;
    // SAFETY: a valid out-pointer and a destructor of the right type.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(forget)) } == 0 {
        KEY.store(key + 1, Relaxed);
    }
}

/// This thread's state, made on first use.
#[inline]
pub(crate) fn current() -> &'static mut Thread {
    // SAFETY: the slot holds null or a pointer made below, which only this thread uses.
    unsafe {
        let thread = (*tls::slot()).cast::<Thread>();
        if thread.is_null() { make() } else { &mut *thread }
    }
}

#[cold]
fn make() -> &'static mut Thread {
    let thread = Box::into_raw(Box::new(Thread {
        stack: CachedStack::default(),
        places: Places::default(),
        captured: Vec::new(),
        some: SomeBlock::new(),
        identity: Identity::new(),
    }));
    let key = KEY.load(Relaxed);
    // SAFETY: the slot is this thread's; the key exists; the pointer is fresh from a box.
    unsafe {
        *tls::slot() = thread.cast();
        if key != 0 {
            libc::pthread_setspecific(key - 1, thread.cast());
        }
        &mut *thread
    }
}

/// Runs as a thread ends.
extern "C" fn forget(thread: *mut c_void) {
    // SAFETY: the slot is this thread's, and the pointer came from `make` on it.
    unsafe {
        *tls::slot() = std::ptr::null_mut();
        drop(Box::from_raw(thread.cast::<Thread>()));
    }
}
