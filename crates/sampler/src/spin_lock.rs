//! A lock for a few instructions, that a forked child can release.
//!
//! The standard library's locks cannot be held from before a fork until after it in both processes.
//! These can: [`fork`](crate::fork) does.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a lock is tried that may be held for ever.
#[cfg(feature = "preloaded")]
const TRIES: u32 = 100_000;

/// A value that one thread at a time has.
#[derive(Debug)]
pub(crate) struct SpinLock<T> {
    locked: AtomicBool,
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
        Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub(crate) fn lock(&self) -> SpinGuard<'_, T> {
        self.acquire();
        SpinGuard { lock: self }
    }

    /// Locks without a guard.
    pub(crate) fn acquire(&self) {
        while self.locked.swap(true, Ordering::Acquire) {
            // The holder may have to run on this very core.
            std::thread::yield_now();
        }
    }

    /// Locks without a guard, unless the lock is held for long.
    #[cfg(feature = "preloaded")]
    pub(crate) fn try_acquire(&self) -> bool {
        for _ in 0..TRIES {
            if !self.locked.swap(true, Ordering::Acquire) {
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
        self.locked.store(false, Ordering::Release);
    }
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
