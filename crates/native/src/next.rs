//! The functions of the program's allocator: libc's, or those of a library before it. And those that unload code.
//!
//! The first call finds all of them. Until then each is a function of ours that does so. The dynamic linker allocates
//! meanwhile, for texts of errors: it gets no memory, and does without. So the program's blocks have the places that they
//! have without us, as parts of the same cache lines.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use memtrail_agent::native::{main_object, object_of};

use crate::definition::next_definition;
use crate::operator_definitions;
use crate::place::{is_imported, is_ours};

/// One function: its address.
struct Function(AtomicPtr<c_void>);

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $otherwise:expr;)*) => {
        $(
            #[doc = concat!("The allocator's `", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As the function's.
            #[inline]
            pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
                // SAFETY: the address is that of a function of this type at any time.
                let function = unsafe {
                    transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $result>(
                        NEXT.$name.0.load(Relaxed),
                    )
                };
                // SAFETY: as the caller promises.
                unsafe { function($($argument),*) }
            }
        )*

        struct Next {
            $($name: Function,)*
        }

        static NEXT: Next = Next {
            $($name: Function(AtomicPtr::new(first::$name as *mut c_void)),)*
        };

        /// What is called first.
        mod first {
            use super::{FINDING, Nothing, c_int, c_void, find, null_mut};
            use std::sync::atomic::Ordering::Relaxed;
            $(
                pub(super) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                    if FINDING.load(Relaxed) {
                        return $otherwise;
                    }
                    find();
                    // SAFETY: as the caller promises.
                    unsafe { super::$name($($argument),*) }
                }
            )*
        }

        /// What is called of an allocator that lacks the function.
        mod absent {
            use super::{Nothing, c_int, c_void, null_mut};
            $(
                pub(super) unsafe extern "C" fn $name($(_: $type),*) -> $result {
                    $otherwise
                }
            )*
        }

        /// Finds all of them, and the operators of C++, unless that was done.
        pub(crate) fn find() {
            if NEXT.malloc.0.load(Relaxed) != first::malloc as *mut c_void {
                return;
            }
            FINDING.store(true, Relaxed);
            operator_definitions::find();
            $(
                let $name = {
                    let found = next_definition(name_of(concat!(stringify!($name), "\0")));
                    if found.is_null() { absent::$name as *mut c_void } else { found }
                };
            )*
            // SAFETY: takes back the errors, of which the program would be told.
            unsafe { libc::dlerror() };
            // Now, as from here on the dynamic linker's memory would be the program's.
            $(NEXT.$name.0.store($name, Relaxed);)*
            FINDING.store(false, Relaxed);
        }

        /// The address of the allocator's function with this name, once they are found, if it has it.
        pub(crate) fn definition(name: &CStr) -> Option<*mut c_void> {
            $(
                if name == name_of(concat!(stringify!($name), "\0")) {
                    let found = NEXT.$name.0.load(Relaxed);
                    let is_there = found != absent::$name as *mut c_void
                        && found != first::$name as *mut c_void;
                    return is_there.then_some(found);
                }
            )*
            None
        }
    };
}

/// A name that ends with a zero.
pub(crate) const fn name_of(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// What functions give that give nothing.
type Nothing = ();

/// Whether the functions are being found, by the one thread that there is by then.
static FINDING: AtomicBool = AtomicBool::new(false);

functions! {
    malloc(size: usize) -> *mut c_void, null_mut();
    calloc(count: usize, size: usize) -> *mut c_void, null_mut();
    realloc(block: *mut c_void, size: usize) -> *mut c_void, null_mut();
    free(block: *mut c_void) -> Nothing, Nothing::default();
    memalign(alignment: usize, size: usize) -> *mut c_void, null_mut();
    aligned_alloc(alignment: usize, size: usize) -> *mut c_void, null_mut();
    posix_memalign(into: *mut *mut c_void, alignment: usize, size: usize) -> c_int, libc::ENOMEM;
    valloc(size: usize) -> *mut c_void, null_mut();
    pvalloc(size: usize) -> *mut c_void, null_mut();
    dlclose(library: *mut c_void) -> c_int, -1;
    __deregister_frame(table: *const c_void) -> Nothing, Nothing::default();
    __deregister_frame_info(table: *const c_void) -> *mut c_void, null_mut();
    __deregister_frame_info_bases(table: *const c_void) -> *mut c_void, null_mut();
}

/// The addresses of the allocator's `malloc` and `free`, once they are found.
pub(crate) fn malloc_and_free() -> [*mut c_void; 2] {
    [NEXT.malloc.0.load(Relaxed), NEXT.free.0.load(Relaxed)]
}

/// True if the program's executable has an allocator itself: its own calls do not come by.
pub(crate) fn has_own_allocator() -> bool {
    // SAFETY: a C string; finds the function that the program calls.
    let called = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    object_of(called) == main_object() && !is_imported(called)
}

/// Whether the program calls an allocator that is not behind this library's functions.
pub(crate) fn is_bypassed() -> bool {
    !is_called(c"malloc")
}

/// Whether this library's function of a name is the one that the program calls.
pub(crate) fn is_called(name: &CStr) -> bool {
    // SAFETY: a C string; finds the function that the program calls, which may be its own.
    let called = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    is_ours(called) || is_imported(called)
}

/// Whether a function is of the library that has the allocator.
pub(crate) fn is_of_allocator(function: *const c_void) -> bool {
    object_of(function) == object_of(NEXT.malloc.0.load(Relaxed))
}
