//! What the agent keeps for each thread of the target that runs OCaml code.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use memtrail_trace::Code;

use crate::os::own_thread;
use crate::os::private_stack;
use crate::os::tls;
use crate::recording::threads::{Identity, ThreadId};
use crate::sampling::callstack::{CachedStack, Expected, SiteCache};
use crate::sampling::value::SomeBlock;

/// State of one thread; only that thread touches it.
pub(crate) struct Thread {
    /// Its callstack at the last sample.
    pub(crate) stack: CachedStack,
    /// What is to be read of it, if that is checked.
    pub(crate) expected: Option<Expected>,
    /// Places of allocations that its samples fell into.
    pub(crate) site_cache: SiteCache,
    /// Scratch: a callstack that the runtime captured itself.
    pub(crate) captured: Vec<Code>,
    /// The result that callbacks on this thread return.
    pub(crate) some: SomeBlock,
    /// Who it is.
    pub(crate) identity: Identity,
    /// The environment of the last program that it started or became.
    pub(crate) environment: Environment,
}

/// An array of strings for `execve`.
#[derive(Default)]
pub(crate) struct Environment {
    pub(crate) all: Vec<*const c_char>,
    /// The process that uses it; 0 if none does.
    pub(crate) user: u32,
}

impl Thread {
    /// Whose its blocks are.
    pub(crate) fn thread_id(&self) -> ThreadId {
        self.identity.thread_id
    }
}

/// Value 0 means that no key exists (yet).
static KEY: AtomicU32 = AtomicU32::new(0);

/// Arranges for the state of threads that end to be freed, and for the end of this one, the main
/// thread, to be known.
pub(crate) fn prepare() {
    let mut key = 0;
    // SAFETY: a valid out-pointer and a destructor of the right type.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(forget)) } == 0 {
        KEY.store(key + 1, Relaxed);
        free_at_end();
    }
}

/// This thread's state, made on first use.
#[inline]
pub(crate) fn current() -> &'static mut Thread {
    // SAFETY: the slot holds null or a pointer made below, which only this thread uses.
    unsafe {
        let thread = (*tls::slots()).thread;
        if thread.is_null() { make() } else { &mut *thread }
    }
}

#[cold]
fn make() -> &'static mut Thread {
    // Field by field, as all of it is too large to be moved there.
    let thread: *mut Thread = Box::leak(Box::<Thread>::new_uninit()).as_mut_ptr();
    // SAFETY: fresh memory for a thread, all of whose fields are written; the slot is this thread's.
    unsafe {
        (&raw mut (*thread).stack).write(CachedStack::default());
        (&raw mut (*thread).expected).write(None);
        (&raw mut (*thread).site_cache).write(SiteCache::default());
        (&raw mut (*thread).captured).write(Vec::new());
        (&raw mut (*thread).some).write(SomeBlock::new());
        (&raw mut (*thread).identity).write(Identity::new());
        (&raw mut (*thread).environment).write(Environment::default());
        (*tls::slots()).thread = thread;
        free_at_end();
        &mut *thread
    }
}

/// Arranges for what this thread has to be freed when it ends.
pub(crate) fn free_at_end() {
    let key = KEY.load(Relaxed);
    if key != 0 {
        // SAFETY: the key exists; any pointer but null will do.
        unsafe { libc::pthread_setspecific(key - 1, tls::slots().cast()) };
    }
}

/// Runs as a thread ends.
extern "C" fn forget(_: *mut c_void) {
    // SAFETY: the slot is this thread's, and the pointer came from `make` on it.
    unsafe {
        let thread = std::mem::replace(&mut (*tls::slots()).thread, std::ptr::null_mut());
        if !thread.is_null() {
            drop(Box::from_raw(thread));
        }
    }
    own_thread::one_of_theirs_ends();
    private_stack::release();
}
