//! A lock that costs its usual holder one atomic instruction, and never allocates, calls the
//! runtime's or libc's locks, or touches thread-locals.
//!
//! It is contended only for the moment in which the flusher writes a packet out, and by domains that
//! speak of each other's blocks; whoever has to wait spins, then sleeps a little.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

/// Tries before a waiter sleeps.
const SPINS: u32 = 200;
/// How long it sleeps between tries.
static PAUSE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
/// Sleeps after which [`Lock::lock_soon`] gives up: a fifth of a second.
const PATIENCE: u32 = 4_000;

pub(crate) struct Lock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through `Held`, of which one exists at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub(crate) fn lock(&self) -> Held<'_, T> {
        if !self.take() {
            self.wait(u32::MAX);
        }
        Held { lock: self }
    }

    /// Like `lock`, but gives up in the end: whoever holds the lock may be this very thread,
    /// interrupted by a signal whose handler ends the process.
    pub(crate) fn lock_soon(&self) -> Option<Held<'_, T>> {
        (self.take() || self.wait(PATIENCE)).then_some(Held { lock: self })
    }

    #[inline]
    fn take(&self) -> bool {
        !self.held.swap(true, Acquire)
    }

    /// Waits for at most so many sleeps; for ever if that is `u32::MAX`.
    #[cold]
    fn wait(&self, sleeps: u32) -> bool {
        let mut slept = 0;
        loop {
            for _ in 0..SPINS {
                if !self.held.load(Relaxed) && self.take() {
                    return true;
                }
                std::hint::spin_loop();
            }
            if slept >= sleeps && sleeps != u32::MAX {
                return false;
            }
            slept = slept.saturating_add(1);
            // SAFETY: a valid duration, no remainder wanted.
            unsafe { libc::nanosleep(&raw const PAUSE, std::ptr::null_mut()) };
        }
    }
}

pub(crate) struct Held<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and `self` is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.held.store(false, Release);
    }
}
