//! What a tracker knows of a block: a value of any type, in place where it is small.
//!
//! A box of its own would be one more allocation and deallocation for each block, with the allocator's lock.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

/// Words of a value in place. Those of larger ones are a box.
const WORDS: usize = 3;

type Words = [MaybeUninit<usize>; WORDS];

/// A value of any type.
pub(crate) struct Value {
    words: Words,
    of: &'static Functions,
    /// Threads cannot share it: values are `Send`, and may be no more.
    not_sync: PhantomData<Cell<()>>,
}

/// What can be done with the words of a value of one type.
struct Functions {
    type_id: fn() -> TypeId,
    /// The words are those of a value.
    #[cfg(any(test, feature = "preloaded"))]
    any: unsafe fn(&Words) -> &(dyn Any + Send),
    /// The words are those of a value, which is not used again.
    drop: unsafe fn(&mut Words),
}

/// How values of a type are kept.
struct Of<T>(PhantomData<T>);

impl<T: Any + Send> Of<T> {
    const IS_IN_PLACE: bool =
        size_of::<T>() <= size_of::<Words>() && align_of::<T>() <= align_of::<Words>();

    const FUNCTIONS: &'static Functions = &Functions {
        type_id: TypeId::of::<T>,
        #[cfg(any(test, feature = "preloaded"))]
        any: Self::any,
        drop: Self::drop,
    };

    #[cfg(any(test, feature = "preloaded"))]
    unsafe fn any(words: &Words) -> &(dyn Any + Send) {
        // SAFETY: as the caller promises.
        unsafe {
            if Self::IS_IN_PLACE {
                &*words.as_ptr().cast::<T>()
            } else {
                &**words.as_ptr().cast::<Box<T>>()
            }
        }
    }

    unsafe fn drop(words: &mut Words) {
        // SAFETY: as the caller promises.
        unsafe {
            if Self::IS_IN_PLACE {
                words.as_mut_ptr().cast::<T>().drop_in_place();
            } else {
                words.as_mut_ptr().cast::<Box<T>>().drop_in_place();
            }
        }
    }
}

impl Value {
    #[inline]
    pub(crate) fn new<T: Any + Send>(value: T) -> Self {
        let mut words = [MaybeUninit::uninit(); WORDS];
        // SAFETY: there is room for either, and it is aligned.
        unsafe {
            if Of::<T>::IS_IN_PLACE {
                words.as_mut_ptr().cast::<T>().write(value);
            } else {
                words.as_mut_ptr().cast::<Box<T>>().write(Box::new(value));
            }
        }
        Self { words, of: Of::<T>::FUNCTIONS, not_sync: PhantomData }
    }

    /// The value, if it is of this type.
    #[inline]
    pub(crate) fn downcast<T: Any + Send>(self) -> Option<T> {
        if (self.of.type_id)() != TypeId::of::<T>() {
            return None;
        }
        let value = ManuallyDrop::new(self);
        // SAFETY: the words are those of a value of this type, which are read once.
        Some(unsafe {
            if Of::<T>::IS_IN_PLACE {
                value.words.as_ptr().cast::<T>().read()
            } else {
                *value.words.as_ptr().cast::<Box<T>>().read()
            }
        })
    }

    #[cfg(any(test, feature = "preloaded"))]
    pub(crate) fn any(&self) -> &(dyn Any + Send) {
        // SAFETY: the words are those of a value of the functions' type.
        unsafe { (self.of.any)(&self.words) }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: the words are those of a value of the functions' type, and nothing uses them again.
        unsafe { (self.of.drop)(&mut self.words) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// In place, in a box for its size, in one for its alignment, and without a size.
    #[test]
    fn values_come_back_as_they_were() {
        #[repr(align(64))]
        #[derive(Clone, Debug, PartialEq)]
        struct Aligned(u8);

        fn there_and_back<T: Any + Send + Clone + PartialEq + std::fmt::Debug>(value: &T) {
            assert_eq!(Value::new(value.clone()).any().downcast_ref(), Some(value));
            assert_eq!(Value::new(value.clone()).downcast::<T>().as_ref(), Some(value));
            assert!(Value::new(value.clone()).downcast::<Option<T>>().is_none());
        }
        there_and_back(&7_u64);
        there_and_back(&(1_u64, 2_u32, "text".len()));
        there_and_back(&[5_u64; 4]);
        there_and_back(&Aligned(3));
        there_and_back(&());
        there_and_back(&String::from("text"));
    }

    #[test]
    fn values_are_dropped_once() {
        let counted = Arc::new(());
        let large = [0_u64; 9];
        let values = || (Value::new(counted.clone()), Value::new((counted.clone(), large)));
        let both = values();
        assert_eq!(Arc::strong_count(&counted), 3);
        drop(both);
        assert_eq!(Arc::strong_count(&counted), 1);
        let (small, large) = values();
        let taken = (small.downcast::<Arc<()>>(), large.downcast::<(Arc<()>, [u64; 9])>());
        assert_eq!(Arc::strong_count(&counted), 3);
        drop(taken);
        assert!(Value::new(counted.clone()).downcast::<u8>().is_none());
        assert_eq!(Arc::strong_count(&counted), 1);
    }
}
