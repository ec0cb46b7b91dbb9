//! OCaml 4's sampler in a program that runs: who uses it, and what its threads do with it.

use std::ffi::c_void;
use std::mem;

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::symbols;

use crate::context::target::Target;
use crate::os::symbol::symbol;

/// Distances that are drawn to see whether anything is sampled. At one sample in ten million words and a minor heap of a
/// million bytes, all of them lead out of the heap once in ten million times.
const DRAWS: u32 = 1200;

/// True if the program samples by itself. Nothing tells but where the next sample is to be, and that only if it is within
/// the minor heap: so the distance is drawn anew a number of times. That changes nothing, as it has no memory.
///
/// # Safety
/// The caller holds the runtime's lock, outside of any collection.
pub(super) unsafe fn is_in_use(target: &Target) -> bool {
    let trigger = symbol(symbols::memprof::YOUNG_TRIGGER) as u64;
    let renew = symbol(symbols::memprof::RENEW);
    let Some(fields) = target.runtime.layout.single() else { return true };
    let memory = target.memory;
    let first = memory.field(target.runtime.state(), fields.young_alloc_start);
    if trigger == 0 || renew.is_null() || first.is_none() {
        return true;
    }
    // SAFETY: the runtime declares the function with this type.
    let renew = unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn()>(renew) };
    (0..DRAWS).any(|_| {
        // SAFETY: draws a distance, and sets the limit of the minor heap after it.
        unsafe { renew() };
        memory.u64(trigger) != first
    })
}

type Action = unsafe extern "C" fn(*const u32, *mut c_void);
type EachContext = unsafe extern "C" fn(Action, *mut c_void);

/// True if a thread is in the midst of a callback of the sampler's.
///
/// # Safety
/// The caller holds the runtime's lock.
pub(super) unsafe fn calls_back() -> bool {
    let suspended = symbol(symbols::memprof::SUSPENDED).cast::<i32>();
    if !suspended.is_null() {
        // SAFETY: 4.11 declares it as an `int`.
        return unsafe { suspended.read_volatile() != 0 };
    }
    let each = symbol(symbols::memprof::EACH_CONTEXT).cast::<*mut c_void>();
    if each.is_null() {
        return true;
    }
    let mut found = false;
    // SAFETY: a variable with a function of this type, which calls ours for the context of each thread.
    unsafe {
        let each = each.read_volatile();
        if each.is_null() {
            return true;
        }
        mem::transmute::<*mut c_void, EachContext>(each)(look, (&raw mut found).cast());
    }
    found
}

/// Looks at the first field of a thread's context: set while it is in a callback.
unsafe extern "C" fn look(context: *const u32, found: *mut c_void) {
    // SAFETY: called for contexts, which begin with this flag, and with the place that `calls_back` gave.
    unsafe {
        if !context.is_null() && context.read_volatile() != 0 {
            *found.cast::<bool>() = true;
        }
    }
}
