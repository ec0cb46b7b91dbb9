//! A value that is set once for each recording. Values that were taken out live on: somebody may still use them.

use std::ptr;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Acquire},
};

/// The place of such a value.
pub(crate) struct Replaceable<T: 'static>(AtomicPtr<T>);

impl<T> Replaceable<T> {
    /// A place without a value.
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Sets the value if there is none. False if there is one.
    pub(crate) fn set(&self, value: T) -> bool {
        let fresh = Box::into_raw(Box::new(value));
        if self.0.compare_exchange(ptr::null_mut(), fresh, AcqRel, Acquire).is_ok() {
            return true;
        }
        // SAFETY: it came from a box just now, and nobody else has it.
        drop(unsafe { Box::from_raw(fresh) });
        false
    }

    /// The value, if there is one.
    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or a value that is never freed.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    /// Takes the value out, for another one to be set.
    pub(crate) fn clear(&self) {
        self.0.store(ptr::null_mut(), std::sync::atomic::Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_set_once_and_again_after_it_was_taken_out() {
        let place = Replaceable::new();
        assert!(place.get().is_none());
        assert!(place.set(1));
        assert!(!place.set(2));
        let first = place.get().unwrap();
        place.clear();
        assert!(place.get().is_none());
        assert!(place.set(3));
        assert_eq!((first, place.get()), (&1, Some(&3)));
    }
}
