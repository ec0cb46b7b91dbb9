//! Functions before libc's that map memory: the program's mappings are blocks, if that is asked for.
//!
//! What the allocator's library maps for its blocks is left out, and so is what this library does. libc's own mappings,
//! of `malloc` and of threads' stacks, do not come by.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::{null_mut, without_provenance};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use memtrail_agent::native::{Bytes, Mapping, Registers, mapping_calls};

use crate::next;

type Map =
    unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, libc::off_t) -> *mut c_void;
type Unmap = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
type Remap = unsafe extern "C" fn(*mut c_void, usize, usize, c_int, *mut c_void) -> *mut c_void;

static MAP: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static UNMAP: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static REMAP: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

fn found(known: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let mut function = known.load(Relaxed);
    if function.is_null() {
        // SAFETY: a C string; finds the definition after ours, libc's at last.
        function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        known.store(function, Relaxed);
    }
    function
}

/// Finds libc's. In a copy of the process, or a forked child, another thread's lock on the dynamic linker may be held for
/// ever.
pub(crate) fn find() {
    found(&MAP, c"mmap");
    found(&UNMAP, c"munmap");
    found(&REMAP, c"mremap");
}

/// libc's functions before which this library has its own.
pub(crate) fn definitions() -> [(&'static CStr, *mut c_void); 4] {
    [
        (c"mmap", found(&MAP, c"mmap")),
        (c"mmap64", found(&MAP, c"mmap")),
        (c"munmap", found(&UNMAP, c"munmap")),
        (c"mremap", found(&REMAP, c"mremap")),
    ]
}

fn next_map() -> Map {
    // SAFETY: libc has this function.
    unsafe { transmute::<*mut c_void, Map>(found(&MAP, c"mmap")) }
}

fn next_unmap() -> Unmap {
    // SAFETY: libc has this function.
    unsafe { transmute::<*mut c_void, Unmap>(found(&UNMAP, c"munmap")) }
}

fn next_remap() -> Remap {
    // SAFETY: libc has this function.
    unsafe { transmute::<*mut c_void, Remap>(found(&REMAP, c"mremap")) }
}

/// Whether a function with these registers was called by the allocator's library. libc's does not call these.
fn is_allocators(function: &Registers) -> bool {
    !next::is_of_allocator(libc::abort as *const c_void)
        && mapping_calls::caller(function)
            .is_some_and(|caller| next::is_of_allocator(without_provenance(caller.0)))
}

macro_rules! map {
    ($name:ident) => {
        /// # Safety
        /// As libc's.
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub unsafe extern "C" fn $name(
            address: *mut c_void,
            length: usize,
            access: c_int,
            flags: c_int,
            file: c_int,
            offset: libc::off_t,
        ) -> *mut c_void {
            let map = next_map();
            // SAFETY: as the caller promises.
            let call = || unsafe { map(address, length, access, flags, file, offset) };
            if !mapping_calls::are_recorded() {
                return call();
            }
            let function = Registers::here();
            if is_allocators(&function) {
                return call();
            }
            let is_fixed = flags & libc::MAP_FIXED != 0;
            let replaced = Mapping::new(address.addr(), if is_fixed { length } else { 0 });
            // Without access it is address space, no memory.
            let length = Bytes(if access == libc::PROT_NONE { 0 } else { length as u64 });
            mapping_calls::mapped(length, &[replaced], &function, call)
        }
    };
}

map!(mmap);
map!(mmap64);

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    let unmap = next_unmap();
    // SAFETY: as the caller promises.
    let call = || unsafe { unmap(address, length) };
    if mapping_calls::are_recorded() {
        mapping_calls::unmapped(Mapping::new(address.addr(), length), call)
    } else {
        call()
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn mremap(
    address: *mut c_void,
    old: usize,
    length: usize,
    flags: c_int,
    to: *mut c_void,
) -> *mut c_void {
    let remap = next_remap();
    // SAFETY: as the caller promises.
    let call = || unsafe { remap(address, old, length, flags, to) };
    if !mapping_calls::are_recorded() {
        return call();
    }
    let function = Registers::here();
    if is_allocators(&function) {
        return call();
    }
    let keeps = old == 0 || flags & libc::MREMAP_DONTUNMAP != 0;
    let from = Mapping::new(address.addr(), if keeps { 0 } else { old });
    let is_fixed = flags & libc::MREMAP_FIXED != 0;
    let replaced = Mapping::new(to.addr(), if is_fixed { length } else { 0 });
    mapping_calls::mapped(Bytes(length as u64), &[from, replaced], &function, call)
}
