//! Functions of the runtime that are known by their addresses on callstacks.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

use memtrail_ocaml::{Memory as _, symbols};

use crate::context::checked_memory::CheckedMemory;
use crate::context::functions::size_of_function;
use crate::os::symbol::symbol;

/// Innermost frames among which these functions are looked for.
const INNERMOST: usize = 8;

/// The runtime's functions that matter.
pub(super) struct RuntimeFunctions {
    /// They allocate memory of OCaml's heap, or for our samples of it.
    of_heap: Vec<Range<u64>>,
    /// They make the frame table anew.
    of_frame_table: Vec<Range<u64>>,
    /// They are between OCaml's functions and C's.
    calls_of_c: Vec<Range<u64>>,
}

fn places(names: &[&str]) -> Vec<Range<u64>> {
    let place = |&name: &&str| {
        let start = symbol(name) as u64;
        let size = if start == 0 { 0 } else { size_of_function(name) as u64 };
        // A return address may be the first one behind the function.
        (size > 0).then(|| start + 1..start + size + 1)
    };
    names.iter().filter_map(place).collect()
}

/// The functions that functions with these names end in a jump to.
fn jumped_to(names: &[&str]) -> Vec<Range<u64>> {
    let mut found: Vec<Range<u64>> = places(names).into_iter().filter_map(after_jump).collect();
    found.dedup();
    found
}

/// The function to which the last instruction of this one jumps.
fn after_jump(function: Range<u64>) -> Option<Range<u64>> {
    let end = function.end - 1;
    let at = end.checked_sub(JUMP)?;
    let word = |at| CheckedMemory.u64(at);
    let target = if cfg!(target_arch = "x86_64") {
        // E9, and the distance from here.
        let instruction = word(at)?;
        let distance = (instruction >> 8) as u32;
        (instruction & 0xFF == 0xE9)
            .then(|| end.wrapping_add_signed(i64::from(distance.cast_signed())))
    } else {
        // Six bits, and the distance in words.
        let instruction = word(at)? as u32;
        let distance = i64::from((instruction << 6).cast_signed() >> 4);
        (instruction >> 26 == 0b00_0101).then(|| at.wrapping_add_signed(distance))
    }?;
    let start = |at| enclosing_function(at) == Some(target);
    if !start(target) {
        return None;
    }
    let mut last = target;
    while last - target < MAX_FUNCTION && start(last + STEP) {
        last += STEP;
    }
    Some(target + 1..last + STEP)
}

/// Bytes of a jump.
const JUMP: u64 = if cfg!(target_arch = "x86_64") { 5 } else { 4 };
/// Functions begin at a multiple of this.
const STEP: u64 = 16;
/// The function is not longer.
const MAX_FUNCTION: u64 = 4096;

/// Where the function begins that has an instruction, by the tables for exceptions.
fn enclosing_function(at: u64) -> Option<u64> {
    // It is given return addresses, and looks at what is before.
    let after = ptr::without_provenance_mut(at as usize + 1);
    // SAFETY: looks up a table that the loader knows, for any address.
    let start = unsafe { _Unwind_FindEnclosingFunction(after) };
    (!start.is_null()).then_some(start.addr() as u64)
}

unsafe extern "C" {
    /// libgcc's.
    fn _Unwind_FindEnclosingFunction(instruction: *mut c_void) -> *mut c_void;
}

/// Whether one of the innermost return addresses is in one of these functions.
fn any(innermost_first: impl Iterator<Item = u64>, places: &[Range<u64>]) -> bool {
    innermost_first.take(INNERMOST).any(|frame| places.iter().any(|place| place.contains(&frame)))
}

impl RuntimeFunctions {
    /// Finds them. Only while nothing is loaded or unloaded.
    pub(super) fn find() -> Self {
        Self {
            of_heap: [&symbols::malloc::OF_HEAP[..], &symbols::malloc::OF_SAMPLER]
                .into_iter()
                .flat_map(places)
                .chain(jumped_to(&symbols::malloc::OF_HEAP_BY_JUMP))
                .collect(),
            of_frame_table: places(&symbols::malloc::OF_FRAME_TABLE),
            calls_of_c: places(&symbols::malloc::CALLS_OF_C),
        }
    }

    /// Whether a block with this callstack is memory of OCaml's heap.
    pub(super) fn is_of_heap(&self, innermost_first: impl Iterator<Item = u64>) -> bool {
        any(innermost_first, &self.of_heap)
    }

    /// Whether the runtime makes its frame table anew, with this callstack.
    pub(super) fn is_of_frame_table(&self, innermost_first: impl Iterator<Item = u64>) -> bool {
        any(innermost_first, &self.of_frame_table)
    }

    /// Whether a frame only leads from OCaml to C.
    pub(super) fn is_call_of_c(&self, frame: u64) -> bool {
        any(std::iter::once(frame), &self.calls_of_c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_among_the_innermost_frames() {
        let functions = RuntimeFunctions {
            of_heap: vec![11..21, 100..101],
            of_frame_table: Vec::new(),
            calls_of_c: std::iter::once(31..41).collect(),
        };
        assert!(functions.is_call_of_c(40) && !functions.is_call_of_c(20));
        assert!(functions.is_of_heap([5, 20].into_iter()));
        assert!(!functions.is_of_heap([5, 10, 21].into_iter()));
        assert!(!functions.is_of_heap([1, 2, 3, 4, 5, 6, 7, 8, 20].into_iter()));
        assert!(!functions.is_of_frame_table([20].into_iter()));
    }

    #[cfg(target_arch = "x86_64")]
    core::arch::global_asm!(
        ".text",
        ".p2align 4",
        "memtrail_test_jumps:",
        "nop",
        // A jump of five bytes: that to a function nearby may have two.
        ".byte 0xE9",
        ".long memtrail_test_jumped_to - memtrail_test_jumps_end",
        "memtrail_test_jumps_end:",
        ".p2align 4",
        "memtrail_test_jumped_to:",
        ".cfi_startproc",
        ".skip 40, 0x90",
        "ret",
        ".cfi_endproc",
    );

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_function_is_found_by_the_jump_to_it() {
        unsafe extern "C" {
            static memtrail_test_jumps: u8;
            static memtrail_test_jumps_end: u8;
            static memtrail_test_jumped_to: u8;
        }
        let [start, end, target] = [
            &raw const memtrail_test_jumps,
            &raw const memtrail_test_jumps_end,
            &raw const memtrail_test_jumped_to,
        ]
        .map(|place| place.addr() as u64);
        assert_eq!(after_jump(start + 1..end + 1), Some(target + 1..target + 48));
        assert_eq!(after_jump(start + 1..end), None);
    }

    #[test]
    fn functions_that_are_not_there_have_no_place() {
        assert_eq!(places(&["caml_no_such_function"]), []);
    }
}
