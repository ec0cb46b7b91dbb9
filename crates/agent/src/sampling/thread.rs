//! What the agent keeps for each thread of the target that runs OCaml code.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{Ordering::SeqCst, compiler_fence};

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
}

impl Thread {
    /// Whose its blocks are.
    pub(crate) fn thread_id(&self) -> ThreadId {
        self.identity.thread_id
    }
}

/// A thread's state, lent to one at a time.
struct Lent {
    is_lent: Cell<bool>,
    thread: UnsafeCell<Thread>,
}

/// Gives this thread's state, made on first use, to `work`. Without it, if this thread uses it already:
/// then a signal handler interrupted it there.
#[inline]
pub(crate) fn with_current<T>(work: impl FnOnce(&mut Thread) -> T) -> Option<T> {
    // SAFETY: the slot holds null or a pointer made below, which only this thread uses; it is freed as the
    // thread ends.
    let lent: &Lent = unsafe {
        let lent: *const Lent = (*tls::slots()).thread.cast();
        if lent.is_null() { &*make() } else { &*lent }
    };
    if lent.is_lent.replace(true) {
        return None;
    }
    // Before anything of the state is touched, also for handlers of signals.
    compiler_fence(SeqCst);
    // SAFETY: nobody else has it: it was not lent, and is until `work` is done. Should `work` panic, it is
    // never lent again.
    let result = work(unsafe { &mut *lent.thread.get() });
    compiler_fence(SeqCst);
    lent.is_lent.set(false);
    Some(result)
}

#[cold]
fn make() -> *const Lent {
    // Field by field, as all of it is too large to be moved there.
    let lent: *mut Lent = Box::leak(Box::<Lent>::new_uninit()).as_mut_ptr();
    // SAFETY: fresh memory for a thread, all of whose fields are written; the slot is this thread's.
    unsafe {
        (&raw mut (*lent).is_lent).write(Cell::new(false));
        let thread: *mut Thread = UnsafeCell::raw_get(&raw const (*lent).thread);
        (&raw mut (*thread).stack).write(CachedStack::default());
        (&raw mut (*thread).expected).write(None);
        (&raw mut (*thread).site_cache).write(SiteCache::default());
        (&raw mut (*thread).captured).write(Vec::new());
        (&raw mut (*thread).some).write(SomeBlock::new());
        (&raw mut (*thread).identity).write(Identity::new());
        (*tls::slots()).thread = lent.cast();
    }
    thread_exit::watch();
    lent
}

/// Frees this thread's state, as the thread ends.
///
/// # Safety
/// Not called from within [`with_current`].
pub(crate) unsafe fn free() {
    // SAFETY: the slot is this thread's, the pointer came from `make` on it, and nobody has what it leads to.
    unsafe {
        let lent = std::mem::replace(&mut (*tls::slots()).thread, std::ptr::null_mut());
        if !lent.is_null() {
            drop(Box::from_raw(lent.cast::<Lent>()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_lent_to_one_at_a_time() {
        let first = with_current(|thread| {
            assert!(with_current(|_| ()).is_none());
            thread.thread_id()
        });
        let again = with_current(|thread| thread.thread_id());
        assert!(first.is_some() && first == again);
        let other = std::thread::spawn(|| with_current(|thread| thread.thread_id()));
        assert_ne!(other.join().unwrap(), first);
    }
}
