//! Captures callstacks: by the tables that the compiler makes for panics, without allocating.
//!
//! libgcc's unwinder, which Rust programs contain anyway, finds each function's table by an index. It takes
//! no lock with glibc 2.35 and later.

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;

use crate::units::Address;

/// Frames that a callstack has at most.
pub const MAX_FRAMES: usize = 512;

/// Bytes that the frame of a function may have which the sampler is entered by. Stacks are further apart.
const LARGEST_FRAME: usize = 64 << 10;

/// The return addresses of the functions under way, the innermost first.
#[derive(Debug)]
#[repr(transparent)]
pub struct Callstack([Address]);

impl Callstack {
    /// The return addresses, the innermost first. The call is before each of them.
    pub fn frames(&self) -> &[Address] {
        &self.0
    }

    fn of(frames: &[Address]) -> &Self {
        // SAFETY: `Callstack` is transparent: the same slice by another name.
        unsafe { &*(std::ptr::from_ref(frames) as *const Self) }
    }
}

/// Room for a callstack.
pub(crate) struct Frames {
    addresses: [Address; MAX_FRAMES],
    len: usize,
    limit: usize,
    /// The address of a variable of the function whose callers are wanted.
    entry: Address,
    /// Whether the frames before that function are over. They may be on another stack.
    is_inside: bool,
}

impl Frames {
    /// Captures the callers of a function, the innermost ones up to a limit; `entry` is the address of a variable of that
    /// function's.
    #[inline(never)]
    pub(crate) fn capture(limit: usize, entry: Address) -> Self {
        let limit = limit.min(MAX_FRAMES);
        let mut frames =
            Self { addresses: [Address(0); MAX_FRAMES], len: 0, limit, entry, is_inside: false };
        if limit != 0 {
            // SAFETY: the function is called with the pointer while this call lasts, in this thread.
            unsafe { _Unwind_Backtrace(note_frame, (&raw mut frames).cast()) };
        }
        frames
    }

    pub(crate) fn callstack(&self) -> &Callstack {
        Callstack::of(self.addresses.get(..self.len).unwrap_or_default())
    }

    fn note(&mut self, instruction: usize, stack: usize) -> ControlFlow<()> {
        self.is_inside |= (1..LARGEST_FRAME).contains(&stack.wrapping_sub(self.entry.0));
        if !self.is_inside || instruction == 0 {
            return ControlFlow::Continue(());
        }
        let Some(frame) = self.addresses.get_mut(self.len) else { return ControlFlow::Break(()) };
        *frame = Address(instruction);
        self.len += 1;
        if self.len == self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
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
        frames: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
}

unsafe extern "C" fn note_frame(context: *mut Context, frames: *mut c_void) -> c_int {
    // SAFETY: the unwinder gives the frame that it is at, and the pointer that it was given.
    let (frames, instruction, stack) =
        unsafe { (&mut *frames.cast::<Frames>(), _Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    match frames.note(instruction, stack) {
        ControlFlow::Continue(()) => CONTINUE,
        ControlFlow::Break(()) => END_OF_STACK,
    }
}
