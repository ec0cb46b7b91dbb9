//! A lock that costs its usual holder one atomic instruction, and never allocates, calls the
//! runtime's or libc's locks, or waits for the thread that it is called on.
//!
//! It is contended only for the moment in which the flusher writes a packet out, and by domains that
//! speak of each other's blocks; whoever has to wait spins, then sleeps a little.
//!
//! A signal handler of the program's may end the process while this very thread holds a lock, or
//! another one that is stuck in a system call. So a lock knows its holder, and a thread that ends the
//! process waits for all locks together a second at most. Where memory is exhausted, a thread leaves its locks held for
//! ever: then all our work ends, and so does waiting for them.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::os::clock::{monotonic, pause};
use crate::os::ffi_guard::is_stopped;
use crate::os::{escape, tls};

/// Tries before a waiter sleeps.
const SPINS: u32 = 200;
/// How long it sleeps between tries, in nanoseconds.
const PAUSE: u32 = 50_000;
/// After which [`Lock::try_lock_for`] gives up: a fifth of a second, in nanoseconds.
const PATIENCE: u64 = 200_000_000;
/// How long a thread that ends the process waits for all locks together.
const PATIENCE_AT_THE_END: u64 = 1_000_000_000;

/// The end of the process.
struct ProcessEnd {
    /// The thread that ends it; 0 if none does.
    thread: AtomicUsize,
    /// Until when that thread waits for locks.
    until: AtomicU64,
}

static END: ProcessEnd = ProcessEnd { thread: AtomicUsize::new(0), until: AtomicU64::new(0) };

/// Distinguishes live threads.
#[inline]
fn this_thread() -> usize {
    tls::slots() as usize
}

/// This thread ends the process, or its program: `work` is the last that is done.
pub(crate) fn while_ending<T>(work: impl FnOnce() -> T) -> T {
    END.until.store(monotonic() + PATIENCE_AT_THE_END, Relaxed);
    let before = END.thread.swap(this_thread(), Release);
    let result = work();
    END.thread.store(before, Release);
    result
}

/// When this thread is to stop waiting, if it ends the process.
fn end_of_waiting() -> Option<u64> {
    (END.thread.load(Acquire) == this_thread()).then(|| END.until.load(Relaxed))
}

pub(crate) struct Lock<T> {
    /// The thread that holds it; 0 if none does.
    holder: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through `LockGuard`, of which one exists at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { holder: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Waits as long as it takes. Only where this thread can neither hold it nor end the process.
    #[inline]
    pub(crate) fn lock(&self) -> LockGuard<'_, T> {
        if !self.take() {
            self.wait(u64::MAX);
        }
        self.held()
    }

    /// Like `lock`, but gives up in the end.
    pub(crate) fn try_lock_for(&self) -> Option<LockGuard<'_, T>> {
        (self.take() || self.wait_until(|| monotonic() + PATIENCE)).then(|| self.held())
    }

    /// Like `lock`, but not for ever if this thread ends the process, and not at all if it holds the
    /// lock itself: a signal handler interrupted it, and goes on or has gone another way.
    pub(crate) fn lock_unless_ending(&self) -> Option<LockGuard<'_, T>> {
        (self.take() || self.wait_until(|| u64::MAX)).then(|| self.held())
    }

    /// The lock, if nobody has it.
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        self.take().then(|| self.held())
    }

    /// The guard of a lock that was just taken.
    #[inline]
    fn held(&self) -> LockGuard<'_, T> {
        LockGuard { lock: self, not_send: PhantomData }
    }

    #[inline]
    fn take(&self) -> bool {
        self.holder.compare_exchange(0, this_thread(), Acquire, Relaxed).is_ok()
    }

    #[cold]
    fn wait_until(&self, usual: impl FnOnce() -> u64) -> bool {
        // Whoever holds it was interrupted by us.
        let never = self.holder.load(Relaxed) == this_thread();
        !never && self.wait(end_of_waiting().unwrap_or_else(usual))
    }

    /// Waits until then on the monotonic clock, for ever if that is `u64::MAX`.
    #[cold]
    fn wait(&self, until: u64) -> bool {
        loop {
            for _ in 0..SPINS {
                if self.holder.load(Relaxed) == 0 && self.take() {
                    return true;
                }
                std::hint::spin_loop();
            }
            if until != u64::MAX && monotonic() >= until {
                return false;
            }
            if is_stopped() {
                // Its holder may have left it held, for want of memory.
                escape::leave();
            }
            pause(PAUSE);
        }
    }
}

/// A lock that is held, by the thread that took it.
pub(crate) struct LockGuard<'a, T> {
    lock: &'a Lock<T>,
    /// It stays on its thread, and is shared with others only if the value may be.
    not_send: PhantomData<*mut T>,
}

// SAFETY: a shared guard gives `&T` and nothing else.
unsafe impl<T: Sync> Sync for LockGuard<'_, T> {}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and `self` is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for LockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.holder.store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn threads_take_turns() {
        let lock = Lock::new((0_u64, 0_u64));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let mut held = lock.lock();
                        held.0 += 1;
                        assert_eq!(held.0, held.1 + 1, "nobody else is between");
                        held.1 += 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), (4_000, 4_000));
    }

    #[test]
    fn a_thread_does_not_wait_for_itself() {
        let lock = Lock::new(());
        let held = lock.lock();
        assert!(lock.try_lock().is_none());
        assert!(lock.try_lock_for().is_none());
        assert!(lock.lock_unless_ending().is_none());
        drop(held);
        assert!(lock.try_lock().is_some());
        assert!(lock.try_lock_for().is_some());
        assert!(lock.lock_unless_ending().is_some());
    }

    /// Runs `work` while another thread holds the lock.
    fn while_held<T: Send>(lock: &Lock<()>, work: impl FnOnce() -> T) -> T {
        let (taken, done) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let held = lock.lock();
                taken.wait();
                done.wait();
                drop(held);
            });
            taken.wait();
            let result = work();
            done.wait();
            result
        })
    }

    #[test]
    fn waiting_has_an_end() {
        let lock = Lock::new(());
        assert!(!while_held(&lock, || lock.try_lock_for().is_some()));
        // A thread that ends the process does not wait for ever, though it would otherwise.
        assert!(!while_held(&lock, || while_ending(|| lock.lock_unless_ending().is_some())));
        assert!(lock.lock_unless_ending().is_some(), "free again");
    }
}
