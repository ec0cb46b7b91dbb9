//! The array of strings that `execve` is given: one a thread, which is used again.
//!
//! A child of `vfork` that becomes another program never comes back, and its memory is its parent's: what
//! it takes for the array would never be freed.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_char;
use std::sync::atomic::{Ordering::SeqCst, compiler_fence};

use crate::os::{forked, thread_exit, tls};

/// One thread's array.
#[derive(Default)]
struct EnvironmentArray {
    /// The process that uses it; 0 if none does.
    user: Cell<u32>,
    all: UnsafeCell<Vec<*const c_char>>,
}

/// Calls `with` with the array that `fill` makes.
pub(super) fn with_array<T>(
    fill: impl FnOnce(&mut Vec<*const c_char>),
    with: impl FnOnce(*const *const c_char) -> T,
) -> T {
    let array = current();
    let me = forked::pid();
    if array.user.get() == me {
        // A signal handler interrupts the one that uses it.
        let mut own = Vec::new();
        fill(&mut own);
        return with(own.as_ptr());
    }
    // Or it is free, or its user was a child that is gone.
    array.user.set(me);
    compiler_fence(SeqCst);
    // SAFETY: this thread's array, which nobody else uses until it has no user again.
    let all = unsafe { &mut *array.all.get() };
    all.clear();
    fill(all);
    let result = with(all.as_ptr());
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
        let strings = [c"A=1".as_ptr(), std::ptr::null()];
        let fill = |all: &mut Vec<*const c_char>| all.extend(strings);
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
