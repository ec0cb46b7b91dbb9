//! A hook of ours in a variable of the program's, before what was there.
//!
//! The program may put a hook of its own before ours later, which calls ours. Then ours stays, whenever it is taken out: put in
//! once more, it would call itself.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{AcqRel, Acquire, Release},
};

/// The hook that ours replaces.
pub(crate) struct ReplacedHook {
    before: AtomicPtr<c_void>,
    is_in: AtomicBool,
}

impl ReplacedHook {
    /// Nothing is replaced yet.
    pub(crate) const fn new() -> Self {
        Self { before: AtomicPtr::new(ptr::null_mut()), is_in: AtomicBool::new(false) }
    }

    /// Puts ours into the variable, unless it is there.
    pub(crate) fn put(&self, variable: &AtomicPtr<c_void>, ours: *const c_void) {
        if !self.is_in.swap(true, AcqRel) {
            let before = variable.load(Acquire);
            self.before.store(before, Release);
            let replaced = variable.swap(ours.cast_mut(), AcqRel);
            // The program may have put another one there at this moment.
            if replaced != before {
                self.before.store(replaced, Release);
            }
        }
    }

    /// Puts ours into a variable whose later hooks call no earlier ones, whether ours was replaced or never there.
    pub(crate) fn put_first(&self, variable: &AtomicPtr<c_void>, ours: *const c_void) {
        let (ours, now) = (ours.cast_mut(), variable.load(Acquire));
        if now != ours {
            self.before.store(now, Release);
            // A hook that the program puts there at this moment stays: the next try is ours.
            if variable.compare_exchange(now, ours, AcqRel, Acquire).is_ok() {
                self.is_in.store(true, Release);
            }
        }
    }

    /// Gives the variable back, if ours is in it.
    pub(crate) fn take_out(&self, variable: &AtomicPtr<c_void>, ours: *const c_void) {
        let (ours, before) = (ours.cast_mut(), self.before());
        if variable.compare_exchange(ours, before, AcqRel, Acquire).is_ok() {
            self.is_in.store(false, Release);
        }
    }

    /// The hook that ours has to call; it may be null.
    #[inline]
    pub(crate) fn before(&self) -> *mut c_void {
        self.before.load(Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_another_one_calls_stays_and_is_not_put_in_twice() {
        let [theirs, ours, later] = [1_usize, 2, 3].map(|at| at as *mut c_void);
        let (variable, hook) = (AtomicPtr::new(theirs), ReplacedHook::new());
        hook.put(&variable, ours);
        assert_eq!((variable.load(Acquire), hook.before()), (ours, theirs));
        hook.take_out(&variable, ours);
        assert_eq!(variable.load(Acquire), theirs);
        hook.put(&variable, ours);
        variable.store(later, Release);
        hook.take_out(&variable, ours);
        hook.put(&variable, ours);
        assert_eq!((variable.load(Acquire), hook.before()), (later, theirs));
    }

    #[test]
    fn a_hook_that_was_replaced_is_put_in_again() {
        let [theirs, ours, later] = [1_usize, 2, 3].map(|at| at as *mut c_void);
        let (variable, hook) = (AtomicPtr::new(theirs), ReplacedHook::new());
        hook.put_first(&variable, ours);
        hook.put_first(&variable, ours);
        assert_eq!((variable.load(Acquire), hook.before()), (ours, theirs));
        variable.store(later, Release);
        hook.put_first(&variable, ours);
        assert_eq!((variable.load(Acquire), hook.before()), (ours, later));
        hook.take_out(&variable, ours);
        assert_eq!(variable.load(Acquire), later);
    }
}
