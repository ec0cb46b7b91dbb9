//! Functions before C++'s operators `new` and `delete`.
//!
//! libstdc++'s call `malloc` and `free`, which are counted there. Allocators such as jemalloc, tcmalloc and mimalloc have
//! operators of their own, which do not: [`prepare`] tries which ones are to be counted here. A program that
//! loads C++'s library while it runs finds these functions first, and no definition comes next; then memory is
//! from `malloc`, as libstdc++'s is.

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use memtrail_agent::native::{
    Address, Bytes, Registers, Source, allocated, counted, counts, freed, may_be_tracked,
    will_not_be_allocated,
};

use crate::definition::Definition;
use crate::operator_definitions::{DELETE, NEW, New, operators};
use crate::{allocate, library_operators, loaded_later, next, place, resize};

/// An operator `delete`: a block, then its size, alignment and `std::nothrow` if it takes them.
type Delete = unsafe extern "C-unwind" fn(*mut c_void, usize, usize);

/// An operator `new`.
struct Allocating {
    is_aligned: bool,
    throws: bool,
    /// The number of the operator that frees what this one allocates.
    freed_by: usize,
    /// Whether allocations are counted here, as nothing else counts them.
    is_counted: AtomicBool,
}

const fn allocating((is_aligned, throws): (bool, bool), freed_by: usize) -> Allocating {
    Allocating { is_aligned, throws, freed_by, is_counted: AtomicBool::new(false) }
}

/// Whether any operator `new` is the allocator's own: its operator `delete` may not call `free`, also where `new` calls
/// `malloc`. Those of other libraries free with `free`, which is counted.
static IS_ANY_OF_ALLOCATOR: AtomicBool = AtomicBool::new(false);

fn next_new<const N: usize>() -> New {
    let address = NEW[N].address_or(absent_new::<N> as *mut c_void);
    // SAFETY: the address of an operator `new`.
    unsafe { transmute::<*mut c_void, New>(address) }
}

fn next_delete<const N: usize>() -> Delete {
    next_delete_of(&DELETE[N])
}

fn next_delete_of(definition: &Definition) -> Delete {
    let address = definition.address_or(delete_by_free as *mut c_void);
    // SAFETY: the address of an operator `delete`.
    unsafe { transmute::<*mut c_void, Delete>(address) }
}

const fn bytes(size: usize) -> Bytes {
    Bytes(size as u64)
}

/// Where each operator goes on: in the end to the definition that comes next, or to a function that looks at it before.
struct To {
    delete: [AtomicPtr<c_void>; 12],
    new: [AtomicPtr<c_void>; 8],
}

/// Whether it is known which operators are counted here.
static IS_PREPARED: AtomicBool = AtomicBool::new(false);

/// An operator that was not called yet.
#[cold]
unsafe extern "C-unwind" fn first_new<const N: usize>(
    size: usize,
    second: usize,
    third: usize,
) -> *mut c_void {
    let is_counted = OPERATORS[N].is_counted.load(Relaxed);
    let to = if is_counted { counting::<N> as New } else { next_new::<N>() };
    if IS_PREPARED.load(Relaxed) {
        TO.new[N].store(to as *mut c_void, Relaxed);
    }
    // SAFETY: as the caller promises.
    unsafe { to(size, second, third) }
}

/// The same of an operator `delete`.
#[cold]
unsafe extern "C-unwind" fn first_delete<const N: usize>(
    block: *mut c_void,
    second: usize,
    third: usize,
) {
    let is_looked_up = IS_ANY_OF_ALLOCATOR.load(Relaxed);
    let to = if is_looked_up { looking_up::<N> as Delete } else { next_delete::<N>() };
    if IS_PREPARED.load(Relaxed) {
        TO.delete[N].store(to as *mut c_void, Relaxed);
    }
    // SAFETY: as the caller promises.
    unsafe { to(block, second, third) }
}

/// Of an operator that is counted here.
unsafe extern "C-unwind" fn counting<const N: usize>(
    size: usize,
    second: usize,
    third: usize,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    unsafe {
        if counted(bytes(size)) {
            return looked_at::<N>(size, second, third);
        }
        next_new::<N>()(size, second, third)
    }
}

#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn looked_at<const N: usize>(
    size: usize,
    second: usize,
    third: usize,
) -> *mut c_void {
    // The operator may allocate an exception, or call a handler of the program's that allocates.
    will_not_be_allocated(bytes(size));
    // SAFETY: as the caller promises.
    let block = unsafe { next_new::<N>()(size, second, third) };
    if !block.is_null() && counted(bytes(size)) {
        allocated(Address(block.addr()), bytes(size), Source::Allocated, &Registers::here());
    }
    block
}

/// Where no definition comes next.
unsafe extern "C-unwind" fn absent_new<const N: usize>(
    size: usize,
    second: usize,
    third: usize,
) -> *mut c_void {
    let operator = &OPERATORS[N];
    let at_least_one = size.max(1);
    // SAFETY: any size; an alignment of C++ is one of `memalign`.
    let block = unsafe {
        if operator.is_aligned {
            allocate::memalign(second, at_least_one)
        } else {
            allocate::malloc(at_least_one)
        }
    };
    if !block.is_null() || !operator.throws {
        return block;
    }
    // The one of C++'s library has the program's handler called, and throws.
    let found = loaded_later::definition(NEW[N].name);
    // SAFETY: an operator `new`, called as this one was.
    unsafe {
        if found.is_null() {
            libc::abort();
        }
        transmute::<*mut c_void, New>(found)(size, second, third)
    }
}

unsafe extern "C-unwind" fn delete_by_free(block: *mut c_void, _: usize, _: usize) {
    // SAFETY: as the caller promises.
    unsafe { resize::free(block) };
}

/// The same of an operator `delete`, where any `new` is the allocator's own.
unsafe extern "C-unwind" fn looking_up<const N: usize>(
    block: *mut c_void,
    second: usize,
    third: usize,
) {
    // SAFETY: as the caller promises.
    unsafe {
        if may_be_tracked(Address(block.addr())) {
            return tracked::<N>(block, second, third);
        }
        next_delete::<N>()(block, second, third);
    }
}

#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn tracked<const N: usize>(
    block: *mut c_void,
    second: usize,
    third: usize,
) {
    freed(Address(block.addr()));
    // SAFETY: as the caller promises.
    unsafe { next_delete::<N>()(block, second, third) };
}

/// Finds which of the operators are to be counted here. Called by this library's constructor.
pub(crate) fn prepare() {
    prepare_new::<0>();
    prepare_new::<1>();
    prepare_new::<2>();
    prepare_new::<3>();
    prepare_new::<4>();
    prepare_new::<5>();
    prepare_new::<6>();
    prepare_new::<7>();
    if !IS_ANY_OF_ALLOCATOR.load(Relaxed) {
        library_operators::prepare();
    }
    IS_PREPARED.store(true, Relaxed);
}

/// The operators that are the allocator's own, if any is.
pub(crate) fn of_allocator() -> Vec<(&'static CStr, *mut c_void)> {
    if !IS_ANY_OF_ALLOCATOR.load(Relaxed) {
        return Vec::new();
    }
    let known = |definition: &Definition| Some((definition.name, definition.known()?));
    let all = NEW.iter().chain(&DELETE).filter_map(known);
    all.filter(|(_, known)| !place::is_ours(*known)).collect()
}

/// Tries an operator of the library that has the allocator: one that calls `malloc` is counted there.
fn prepare_new<const N: usize>() {
    let operator = &OPERATORS[N];
    if !next::is_of_allocator(next_new::<N>() as *const c_void) {
        return;
    }
    IS_ANY_OF_ALLOCATOR.store(true, Relaxed);
    let nothrow = (&raw const NOTHROW).addr();
    let (second, third) = if operator.is_aligned { (ALIGNMENT, nothrow) } else { (nothrow, 0) };
    let mut block = null_mut();
    // SAFETY: called as C++ does.
    let is_counted = counts(|| block = unsafe { next_new::<N>()(1, second, third) });
    let second = if operator.is_aligned { ALIGNMENT } else { 0 };
    if let Some(delete) = DELETE.get(operator.freed_by) {
        // SAFETY: the operator that frees such blocks.
        unsafe { next_delete_of(delete)(block, second, 0) };
    }
    operator.is_counted.store(!is_counted, Relaxed);
}

/// Stands for `std::nothrow`, of which nothing is read.
static NOTHROW: u8 = 0;
/// More than `malloc` gives.
const ALIGNMENT: usize = 64;

macro_rules! functions {
    (
        new { $($new:ident = $new_number:literal $new_name:literal $is:tt, $freed_by:literal;)* }
        delete { $($delete:ident = $delete_number:literal $delete_name:literal;)* }
    ) => {
        static OPERATORS: [Allocating; 8] = [$(allocating($is, $freed_by)),*];
        static TO: To = To {
            delete: [$(AtomicPtr::new(first_delete::<$delete_number> as *mut c_void)),*],
            new: [$(AtomicPtr::new(first_new::<$new_number> as *mut c_void)),*],
        };
        $(
            /// # Safety
            /// As the operator's.
            #[unsafe(export_name = $new_name)]
            pub unsafe extern "C-unwind" fn $new(
                size: usize,
                second: usize,
                third: usize,
            ) -> *mut c_void {
                // SAFETY: such an operator; and as the caller promises.
                unsafe {
                    if let Some(malloc) = library_operators::malloc($new_number) {
                        return library_operators::new::<$new_number>(malloc, size);
                    }
                    let to = TO.new[$new_number].load(Relaxed);
                    transmute::<*mut c_void, New>(to)(size, second, third)
                }
            }
        )*
        $(
            /// # Safety
            /// As the operator's.
            #[unsafe(export_name = $delete_name)]
            pub unsafe extern "C-unwind" fn $delete(
                block: *mut c_void,
                second: usize,
                third: usize,
            ) {
                // SAFETY: such an operator; and as the caller promises.
                unsafe {
                    if let Some(free) = library_operators::free($delete_number) {
                        return library_operators::delete(free, block);
                    }
                    let to = TO.delete[$delete_number].load(Relaxed);
                    transmute::<*mut c_void, Delete>(to)(block, second, third);
                }
            }
        )*
    };
}

operators!(functions);
