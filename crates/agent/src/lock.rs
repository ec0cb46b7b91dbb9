//! A lock of three states on a futex: never allocates, never touches thread-locals.
//!
//! The scheme is the third mutex of Drepper's "Futexes are tricky". In the target it is contended
//! only for the moment in which the flusher copies a packet out.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

const FREE: u32 = 0;
const HELD: u32 = 1;
const WAITED_FOR: u32 = 2;

pub(crate) struct Lock<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through `Held`, of which one exists at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { state: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub(crate) fn lock(&self) -> Held<'_, T> {
        if self.state.compare_exchange(FREE, HELD, Acquire, Relaxed).is_err() {
            self.wait();
        }
        Held { lock: self }
    }

    /// Like `lock`, but gives up after a fifth of a second: whoever holds the lock may be this very
    /// thread, interrupted by a signal whose handler ends the process.
    pub(crate) fn lock_soon(&self) -> Option<Held<'_, T>> {
        const TRIES: u32 = 200;
        let pause = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        for _ in 0..TRIES {
            if self.state.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok() {
                return Some(Held { lock: self });
            }
            // SAFETY: a valid duration, no remainder wanted.
            unsafe { libc::nanosleep(&raw const pause, std::ptr::null_mut()) };
        }
        None
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..100 {
            std::hint::spin_loop();
            if self.state.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok() {
                return;
            }
        }
        while self.state.swap(WAITED_FOR, Acquire) != FREE {
            futex(&self.state, libc::FUTEX_WAIT, WAITED_FOR);
        }
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    // SAFETY: the word outlives the call, and a null timeout is allowed.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        );
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
        if self.lock.state.swap(FREE, Release) == WAITED_FOR {
            futex(&self.lock.state, libc::FUTEX_WAKE, 1);
        }
    }
}
