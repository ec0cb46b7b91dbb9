//! A lock for a few instructions, that a forked child can release.
//!
//! The standard library's locks cannot be held from before a fork until after it in both processes.
//! These can: [`fork`](crate::fork) does.
//!
//! A signal handler may interrupt the thread that holds one, and free memory, fork or end the process. It does not wait for
//! its own thread: it is refused the value, and what it locks for a fork is locked already.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::thread_slot::with;

/// How often a lock is tried that may be held for ever.
#[cfg(feature = "preloaded")]
const TRIES: u32 = 100_000;

/// A value that one thread at a time has.
#[derive(Debug)]
pub(crate) struct SpinLock<T> {
    /// The thread that has it, by the address of its state; 0 for none.
    holder: AtomicUsize,
    /// How often that thread has locked it again.
    again: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard alone, of which there is one at a time.
unsafe impl<T: Send> Sync for SpinLock<T> {}

/// Access to the value, until it is dropped.
pub(crate) struct SpinGuard<'a, T> {
    lock: &'a SpinLock<T>,
}

impl<T> SpinLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            holder: AtomicUsize::new(0),
            again: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// The value, unless this very thread has it: then a signal handler has interrupted it.
    #[inline]
    pub(crate) fn lock(&self) -> Option<SpinGuard<'_, T>> {
        let thread = this_thread();
        if self.holder.load(Relaxed) == thread {
            return None;
        }
        while !self.take(thread) {
            // The holder may have to run on this very core.
            std::thread::yield_now();
        }
        Some(SpinGuard { lock: self })
    }

    /// Locks without a guard.
    pub(crate) fn acquire(&self) {
        let thread = this_thread();
        while !self.take_or_keep(thread) {
            std::thread::yield_now();
        }
    }

    /// Whether it was free, and is this thread's now.
    #[inline]
    fn take(&self, thread: usize) -> bool {
        self.holder.compare_exchange(0, thread, Acquire, Relaxed).is_ok()
    }

    /// Whether it is this thread's now, or still.
    fn take_or_keep(&self, thread: usize) -> bool {
        if self.holder.load(Relaxed) == thread {
            self.again.fetch_add(1, Relaxed);
            return true;
        }
        self.take(thread)
    }

    /// Locks without a guard, unless the lock is held for long.
    #[cfg(feature = "preloaded")]
    pub(crate) fn try_acquire(&self) -> bool {
        let thread = this_thread();
        for _ in 0..TRIES {
            if self.take_or_keep(thread) {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    /// The value, without locking.
    ///
    /// # Safety
    /// Nothing changes it meanwhile.
    #[cfg(feature = "preloaded")]
    pub(crate) unsafe fn unlocked(&self) -> &T {
        // SAFETY: as the caller promises.
        unsafe { &*self.value.get() }
    }

    /// Unlocks without a guard.
    ///
    /// # Safety
    /// This thread, or the one of which it is the forked copy, has called [`acquire`](Self::acquire).
    pub(crate) unsafe fn release(&self) {
        match self.again.load(Relaxed) {
            0 => self.holder.store(0, Release),
            again => self.again.store(again - 1, Relaxed),
        }
    }
}

/// What tells this thread from all others, also in the copy that a fork makes of it.
#[inline]
fn this_thread() -> usize {
    with(|thread| std::ptr::from_ref(thread).addr())
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the guard was made by locking.
        unsafe { self.lock.release() };
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A handler that freed a tracked block waited for ever for the thread that it had interrupted.
    #[test]
    fn a_thread_does_not_wait_for_itself() {
        let lock = SpinLock::new(1);
        let guard = lock.lock().expect("it is free");
        assert!(lock.lock().is_none());
        // A fork in the handler.
        lock.acquire();
        assert!(lock.lock().is_none());
        // SAFETY: acquired above.
        unsafe { lock.release() };
        assert!(lock.lock().is_none(), "the guard is still there");
        drop(guard);
        assert!(lock.lock().is_some());
    }

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        let lock = SpinLock::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| *lock.lock().expect("not its own") += 1));
            }
        });
        assert_eq!(*lock.lock().expect("it is free"), 40_000);
    }
}
