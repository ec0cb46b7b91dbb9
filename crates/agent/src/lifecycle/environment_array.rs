//! The array of strings that `execve` is given: one a thread, which is used again.
//!
//! A child of `vfork` that becomes another program never comes back, and its memory is its parent's: what
//! it takes for the array would never be freed.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{CStr, c_char};
use std::sync::atomic::{Ordering::SeqCst, compiler_fence};

use memtrail_recording::preload;

use crate::os::{forked, thread_exit, tls};

/// What the next program gets.
#[derive(Default)]
pub(crate) struct NextEnvironment {
    all: Vec<*const c_char>,
    /// Where `LD_PRELOAD` is in it.
    preload_at: Option<usize>,
    /// Its assignment, if it is not as the program has it.
    preload: Vec<u8>,
}

impl NextEnvironment {
    fn clear(&mut self) {
        self.all.clear();
        self.preload.clear();
        self.preload_at = None;
    }

    /// Adds an entry, which has to live until the array has been used.
    pub(crate) fn push(&mut self, entry: &CStr) {
        self.all.push(entry.as_ptr());
    }

    /// `LD_PRELOAD` is to be here, if it has no place yet.
    pub(crate) fn place_preload(&mut self) {
        if self.preload_at.is_none() {
            self.preload_at = Some(self.all.len());
            self.all.push(std::ptr::null());
        }
    }

    /// Sets `LD_PRELOAD`, in its place or at the end; `None` takes the place away.
    pub(crate) fn set_preload(&mut self, value: Option<&[u8]>) {
        if value.is_some() {
            self.place_preload();
        }
        let Some(at) = self.preload_at else { return };
        if let Some(value) = value {
            self.preload = preload::entry(value);
            self.all[at] = self.preload.as_ptr().cast();
        } else {
            self.all.remove(at);
        }
    }

    /// No more is added.
    pub(crate) fn end(&mut self) {
        self.all.push(std::ptr::null());
    }

    /// It as `execve` takes it.
    pub(crate) fn array(&self) -> *const *const c_char {
        self.all.as_ptr()
    }
}

/// One thread's array.
#[derive(Default)]
struct EnvironmentArray {
    /// The process that uses it; 0 if none does.
    user: Cell<u32>,
    next: UnsafeCell<NextEnvironment>,
}

/// Calls `with` with the array that `fill` makes.
pub(super) fn with_array<T>(
    fill: impl FnOnce(&mut NextEnvironment),
    with: impl FnOnce(*const *const c_char) -> T,
) -> T {
    let array = current();
    let me = forked::pid();
    if array.user.get() == me {
        // A signal handler interrupts the one that uses it.
        let mut own = NextEnvironment::default();
        fill(&mut own);
        return with(own.array());
    }
    // Or it is free, or its user was a child that is gone.
    array.user.set(me);
    compiler_fence(SeqCst);
    // SAFETY: this thread's array, which nobody else uses until it has no user again.
    let next = unsafe { &mut *array.next.get() };
    next.clear();
    fill(next);
    let result = with(next.array());
    compiler_fence(SeqCst);
    array.user.set(0);
    result
}

/// This thread's array, made on first use.
fn current<'a>() -> &'a EnvironmentArray {
    // SAFETY: the slot holds null or an array that was made here, which is freed as the thread ends.
    unsafe {
        let slots = tls::slots();
        if (*slots).environment.is_null() {
            (*slots).environment = Box::into_raw(Box::<EnvironmentArray>::default()).cast();
            thread_exit::watch();
        }
        &*(*slots).environment.cast()
    }
}

/// Frees this thread's array, as the thread ends.
///
/// # Safety
/// Not called from within [`with_array`].
pub(crate) unsafe fn free() {
    // SAFETY: the slot is this thread's, and what it holds was made above; nobody uses it any more.
    unsafe {
        let array = std::mem::replace(&mut (*tls::slots()).environment, std::ptr::null_mut());
        if !array.is_null() {
            drop(Box::from_raw(array.cast::<EnvironmentArray>()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_used_again_but_not_by_two() {
        let fill = |next: &mut NextEnvironment| {
            next.push(c"A=1");
            next.end();
        };
        let first = with_array(fill, |outer| {
            let inner = with_array(fill, |inner| inner);
            assert_ne!(outer, inner);
            outer
        });
        assert_eq!(with_array(fill, |again| again), first);
        // SAFETY: nobody uses it.
        unsafe { free() };
        with_array(fill, |_| ());
    }
}
