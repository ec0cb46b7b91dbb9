//! What is called in place of the runtime's function that captures callstacks.

use std::ffi::c_int;

use crate::context::target::Target;
use crate::os::ffi_guard::guarded;
use crate::recording::active::active;
use crate::sampling::callstack::token::{CaptureToken, FRAMES_ASKED_FOR};
use crate::sampling::state::sampling;
use crate::sampling::switch::is_on;
use crate::sampling::{rate, thread};

/// Type of 4.x's `caml_collect_current_callstack`.
pub(crate) type CollectSingle =
    unsafe extern "C" fn(*mut *mut u64, *mut isize, isize, c_int) -> isize;
/// Type of 5.x's `caml_get_callstack`.
pub(crate) type CollectMulticore =
    unsafe extern "C" fn(usize, *mut *mut u64, *mut usize, isize) -> usize;

/// Replaces OCaml 4's `caml_collect_current_callstack`.
pub(crate) unsafe extern "C" fn collect_single(
    slots: *mut *mut u64,
    capacity: *mut isize,
    most: isize,
    index: c_int,
) -> isize {
    if most as u64 == FRAMES_ASKED_FOR && rate::defers(index as isize) {
        return 0;
    }
    // SAFETY: called by the runtime with its buffer, as it would call its own function.
    unsafe {
        let mut buffer = Buffer { slots: *slots, capacity: *capacity as usize, length: 0 };
        let mut fill = || buffer.fill(most.max(0) as usize, index as isize, 1);
        guarded((), || if rate::is_thinned() { fill() } else { rate::metered(fill) });
        *slots = buffer.slots;
        *capacity = buffer.capacity as isize;
        buffer.length as isize
    }
}

/// Replaces OCaml 5's `caml_get_callstack`.
pub(crate) unsafe extern "C" fn collect_multicore(
    most: usize,
    slots: *mut *mut u64,
    capacity: *mut usize,
    index: isize,
) -> usize {
    // SAFETY: as above.
    unsafe {
        let mut buffer = Buffer { slots: *slots, capacity: *capacity, length: 0 };
        guarded((), || rate::metered(|| buffer.fill(most, index, 0)));
        *slots = buffer.slots;
        *capacity = buffer.capacity;
        buffer.length
    }
}

/// The runtime's buffer for slots.
struct Buffer {
    slots: *mut u64,
    capacity: usize,
    length: usize,
}

impl Buffer {
    /// Fills the buffer with a receipt if we asked, with what the runtime would find if the program
    /// did. Slots get `tag` set: OCaml 4's buffer holds values, OCaml 5's pointers.
    fn fill(&mut self, most: usize, index: isize, tag: u64) {
        let Some(sampling) = sampling() else { return };
        let (target, capturer) = (sampling.target, &sampling.capturer);
        if most as u64 == FRAMES_ASKED_FOR {
            if is_on() && active().is_some() {
                let drawn = || rate::drawn(target, index);
                let slots =
                    thread::with_current(|thread| capturer.capture(thread, index).slots(drawn()));
                for slot in slots.unwrap_or_else(|| CaptureToken::Nothing.slots(drawn())) {
                    self.push(target, slot);
                }
            }
            return;
        }
        capturer.all_slots(index, |slot| self.length < most && self.push(target, slot | tag));
    }

    fn push(&mut self, target: &Target, slot: u64) -> bool {
        if self.length == self.capacity {
            let capacity = (2 * self.capacity).max(32);
            // SAFETY: the runtime's buffer, which it takes back as it is then.
            let slots = unsafe { target.runtime.stat_resize(self.slots, self.length, capacity) };
            if slots.is_null() {
                return false;
            }
            (self.slots, self.capacity) = (slots, capacity);
        }
        // SAFETY: within the buffer's capacity.
        unsafe { self.slots.add(self.length).write(slot) };
        self.length += 1;
        true
    }
}
