//! Walks a stack with libgcc's unwinder, which Rust programs contain anyway. It finds each function's table by an
//! index, and takes no lock with glibc 2.35 and later.

use std::ffi::{c_int, c_void};

use crate::callstack::frames::Frames;
use crate::callstack::registers::Registers;

/// Bytes that the frame of a function may have whose callers are wanted. Stacks are further apart.
const LARGEST_FRAME: usize = 64 << 10;

/// A walk under way.
struct Walk<'a> {
    frames: &'a mut Frames,
    /// The function whose callers are wanted.
    function: &'a Registers,
    /// Whether the frames before that function are over. They may be on another stack.
    is_inside: bool,
}

/// Adds the callers of a function that is under way.
pub(super) fn walk(function: &Registers, frames: &mut Frames) {
    let mut walk = Walk { frames, function, is_inside: false };
    // SAFETY: the function is called with the pointer while this call lasts, in this thread.
    unsafe { _Unwind_Backtrace(note_frame, (&raw mut walk).cast()) };
}

impl Walk<'_> {
    /// Notes a frame. `false` if no more are wanted.
    fn note(&mut self, instruction: usize, stack: usize) -> bool {
        let above = stack.wrapping_sub(self.function.stack.0);
        self.is_inside |= (1..LARGEST_FRAME).contains(&above);
        !self.is_inside || instruction == 0 || self.frames.push(instruction)
    }
}

/// A frame, as libgcc has it.
#[repr(C)]
struct Context {
    opaque: [u8; 0],
}

const CONTINUE: c_int = 0;
const END_OF_STACK: c_int = 5;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        note: unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int,
        walk: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

unsafe extern "C" fn note_frame(context: *mut Context, walk: *mut c_void) -> c_int {
    // SAFETY: the unwinder gives the frame that it is at, and the pointer that it was given.
    let (walk, instruction, stack) =
        unsafe { (&mut *walk.cast::<Walk<'_>>(), _Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    if walk.note(instruction, stack) { CONTINUE } else { END_OF_STACK }
}
