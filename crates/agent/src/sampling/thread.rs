//! What the agent keeps for each thread of the target that runs OCaml code.

use std::ffi::c_char;

use memtrail_trace::Code;

use crate::os::{thread_exit, tls};
use crate::recording::threads::{Identity, ThreadId};
use crate::recording::written_check::Expected;
use crate::sampling::callstack::cached::CachedStack;
use crate::sampling::callstack::site_cache::SiteCache;
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

/// This thread's state, made on first use.
#[inline]
pub(crate) fn current() -> &'static mut Thread {
    // SAFETY: the slot holds null or a pointer made below, which only this thread uses.
    unsafe {
        let thread: *mut Thread = (*tls::slots()).thread.cast();
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
        (*tls::slots()).thread = thread.cast();
        thread_exit::watch();
        &mut *thread
    }
}

/// Frees this thread's state, as the thread ends.
pub(crate) fn free() {
    // SAFETY: the slot is this thread's, and the pointer came from `make` on it.
    unsafe {
        let thread = std::mem::replace(&mut (*tls::slots()).thread, std::ptr::null_mut());
        if !thread.is_null() {
            drop(Box::from_raw(thread.cast::<Thread>()));
        }
    }
}
