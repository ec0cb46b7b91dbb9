//! The table of functions for the OCaml library `memtrail` (`ocaml/` in the repository).
//!
//! The library looks for `memtrail_agent` among the symbols of the process; where there is none it
//! does nothing. It is given a table of functions. A table keeps its version and meaning for ever:
//! what changes gets a table of the next version, so that library and agent may be of any age.

use std::ffi::{c_char, c_int, c_void};

use memtrail_agent::api::{self, Value};
use memtrail_agent::guarded;

/// The version of [`Table`].
const VERSION: u32 = 1;

/// Called with a block of a module: name and length of name, address of the block, number of fields.
type EachGlobal = unsafe extern "C" fn(*mut c_void, *const u8, usize, Value, usize);
/// Called with a frame of the stack: name, file and line, and the addresses of its values.
type EachFrame =
    unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, u32, *const u64, usize);

/// What the library is given. The order is part of the version.
#[repr(C)]
pub struct Table {
    /// Takes a heap snapshot of that name, now. 0 if too many are being written: the caller waits and
    /// asks again, or insists (1) on a failure.
    snapshot: unsafe extern "C" fn(*const c_char, usize, c_int) -> c_int,
    /// Lets samples be recorded (1) or not (0); what was sampled is brought to the file.
    sample: extern "C" fn(c_int),
    /// Whether samples are recorded.
    is_sampling: extern "C" fn() -> c_int,
    /// So many bytes outside the heap were allocated: a token if they were sampled, 0 if not.
    external_alloc: extern "C" fn(usize) -> Value,
    /// The memory with this token was freed.
    external_free: extern "C" fn(Value),
    /// The value that stands for a label on the stack.
    label: unsafe extern "C" fn(*const c_char, usize) -> Value,
    /// The caller's caller keeps this value in its frame as it will keep labels. 1 if it was found.
    learn_label_frame: extern "C" fn(Value) -> c_int,
    /// Gives the blocks of all modules.
    globals: unsafe extern "C" fn(EachGlobal, *mut c_void),
    /// Gives the frames of the running stack, the innermost first.
    frames: unsafe extern "C" fn(EachFrame, *mut c_void),
}

static TABLE: Table = Table {
    snapshot: take_snapshot,
    sample,
    is_sampling,
    external_alloc,
    external_free,
    label,
    learn_label_frame,
    globals,
    frames,
};

/// The functions that a library of that version knows; null if there are none, or if this process is
/// not recorded.
#[unsafe(no_mangle)]
pub extern "C" fn memtrail_agent(version: u32) -> *const Table {
    let recorded = guarded(false, api::is_recorded);
    if version == VERSION && recorded { &raw const TABLE } else { std::ptr::null() }
}

/// Bytes of the caller's.
///
/// # Safety
/// The pointer is valid for the length, for as long as the caller waits.
unsafe fn bytes<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(text.cast(), length) }
}

unsafe extern "C" fn take_snapshot(label: *const c_char, length: usize, insist: c_int) -> c_int {
    guarded(1, || {
        // The string may move when domains are stopped.
        // SAFETY: the library passes a string, which does not move before.
        let label = String::from_utf8_lossy(unsafe { bytes(label, length) }).into_owned();
        c_int::from(api::take_snapshot(&label, insist != 0))
    })
}

extern "C" fn sample(on: c_int) {
    guarded((), || api::sample(on != 0));
}

extern "C" fn is_sampling() -> c_int {
    guarded(0, || c_int::from(api::is_sampling()))
}

extern "C" fn external_alloc(bytes: usize) -> Value {
    guarded(0, || api::external_alloc(bytes as u64).unwrap_or(0))
}

extern "C" fn external_free(token: Value) {
    guarded((), || api::external_free(token));
}

unsafe extern "C" fn label(name: *const c_char, length: usize) -> Value {
    // SAFETY: the library passes a string, which does not move while it waits for us.
    guarded(api::NO_LABEL, || api::label(unsafe { bytes(name, length) }))
}

extern "C" fn learn_label_frame(value: Value) -> c_int {
    guarded(0, || c_int::from(api::learn_label_frame(value)))
}

unsafe extern "C" fn globals(each: EachGlobal, data: *mut c_void) {
    guarded((), || {
        api::globals(|name, block, fields| {
            // SAFETY: the library's own function, with what it asked to be given.
            unsafe { each(data, name.as_ptr(), name.len(), block, fields as usize) };
        });
    });
}

unsafe extern "C" fn frames(each: EachFrame, data: *mut c_void) {
    guarded((), || {
        api::frames(|place, slots| {
            let (name, file) = (place.function, place.file);
            // SAFETY: as above.
            unsafe {
                each(
                    data,
                    name.as_ptr(),
                    name.len(),
                    file.as_ptr(),
                    file.len(),
                    place.line,
                    slots.as_ptr(),
                    slots.len(),
                );
            }
        });
    });
}
