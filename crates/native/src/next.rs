//! The functions of the program's allocator: libc's, or those of a library before it. And those that unload code.
//!
//! The first call finds all of them. Until then each is a function of ours that does so. The dynamic linker allocates
//! meanwhile, for texts of errors: it gets no memory, and does without. So the program's blocks have the places that they
//! have without us, as parts of the same cache lines.

use std::ffi::{CStr, c_int, c_void};
use std::mem::{MaybeUninit, transmute};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use memtrail_agent::native::object_of;

use crate::definition::next_definition;
use crate::operator_definitions;

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
                    let name = concat!(stringify!($name), "\0").as_bytes();
                    let name = CStr::from_bytes_with_nul(name).unwrap_or_default();
                    let found = next_definition(name);
                    if found.is_null() { absent::$name as *mut c_void } else { found }
                };
            )*
            // SAFETY: takes back the errors, of which the program would be told.
            unsafe { libc::dlerror() };
            // Now, as from here on the dynamic linker's memory would be the program's.
            $(NEXT.$name.0.store($name, Relaxed);)*
            FINDING.store(false, Relaxed);
        }
    };
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

/// Whether the program calls an allocator that is not behind this library's functions.
pub(crate) fn is_bypassed() -> bool {
    !is_called(c"malloc")
}

/// Whether this library's function of a name is the one that the program calls.
pub(crate) fn is_called(name: &CStr) -> bool {
    // SAFETY: a C string; finds the function that the program calls, which may be its own.
    let called = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    is_ours(called) || place_of(called).is_imported
}

/// Whether a function is of this library.
pub(crate) fn is_ours(function: *const c_void) -> bool {
    object_of(function) == object_of(is_ours as fn(_) -> _ as *const c_void)
}

/// The path of the library or executable of an address, or nothing.
pub(crate) fn file_of(address: *const c_void) -> &'static CStr {
    place_of(address).file
}

/// Whether a function is of the library that has the allocator.
pub(crate) fn is_of_allocator(function: *const c_void) -> bool {
    object_of(function) == object_of(NEXT.malloc.0.load(Relaxed))
}

/// The place of an address. The search looks through all symbols of its object.
struct Place {
    file: &'static CStr,
    /// Whether the symbol there is one that this imports: an executable with a fixed address has jumps to functions of
    /// libraries, which stand for these.
    is_imported: bool,
}

fn place_of(address: *const c_void) -> Place {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    let mut symbol: *mut c_void = null_mut();
    // SAFETY: zeros are a value, which the call replaces if it finds something; so with the symbol, which is of the
    // 64-bit ELF file's table. The name is the dynamic linker's; what this library asks for is never unloaded.
    unsafe {
        libc::dladdr1(address, found.as_mut_ptr(), &raw mut symbol, RTLD_DL_SYMENT);
        let symbol = symbol.cast::<libc::Elf64_Sym>().as_ref();
        let found = found.assume_init();
        let name = found.dli_fname;
        Place {
            file: if name.is_null() { c"" } else { CStr::from_ptr(name) },
            is_imported: symbol.is_some_and(|symbol| symbol.st_shndx == SHN_UNDEF),
        }
    }
}

/// The symbol is asked for (`dlfcn.h`).
const RTLD_DL_SYMENT: c_int = 1;
/// The section of symbols that are imported (`elf.h`).
const SHN_UNDEF: u16 = 0;
