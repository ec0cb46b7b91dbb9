//! Walks a stack by remembered rules.

use crate::callstack::frames::Frames;
use crate::callstack::registers::Registers;
use crate::callstack::rule::{Base, Kept, Rule};
use crate::callstack::{checked, rules};

/// Bytes that a frame may have. What is larger is another stack, or no frame.
const LARGEST_FRAME: usize = 16 << 20;
const WORD: usize = size_of::<usize>();

/// Some frame is of a form that only libgcc's unwinder knows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OtherForm;

/// Where a walk ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the function that the thread began with.
    Outermost,
    /// At code without a table, or at as many frames as are wanted.
    Unknown,
}

/// Adds the callers of a function that is under way.
pub(super) fn walk(function: &Registers, frames: &mut Frames) -> Result<End, OtherForm> {
    // The tables' numbers of registers are those of x86-64.
    if !cfg!(target_arch = "x86_64") {
        return Err(OtherForm);
    }
    let (mut instruction, mut stack, mut frame) =
        (function.instruction.0, function.stack.0, function.frame.0);
    loop {
        // Code without a table ends the stack, as in libgcc.
        let Some(rule) = rules::at(instruction) else { return Ok(End::Unknown) };
        let Some((base, above, saved)) = rule.usual() else {
            let kept = match Rule::unpack(rule) {
                Rule::Kept(kept) => kept,
                Rule::Outermost => return Ok(End::Outermost),
                Rule::Frame { .. } | Rule::Other => return Err(OtherForm),
            };
            let Some(caller) = caller(kept, stack, frame) else { return Err(OtherForm) };
            (instruction, stack, frame) = caller;
            if instruction == 0 || !frames.push(instruction) {
                return Ok(End::Unknown);
            }
            continue;
        };
        let (above, saved) = (above as usize, saved as usize);
        let from = if base == Base::Stack { stack } else { frame };
        let caller = from.wrapping_add(above);
        let size = caller.wrapping_sub(stack);
        if !(WORD..=LARGEST_FRAME).contains(&size) || saved > size || !caller.is_multiple_of(WORD) {
            return Err(OtherForm);
        }
        // SAFETY: the table of the code that runs says that the words are there, and they are between the frames of
        // two functions under way, in this thread.
        unsafe {
            instruction = ((caller - WORD) as *const usize).read();
            if saved != 0 {
                frame = ((caller - saved) as *const usize).read();
            }
        }
        stack = caller;
        if instruction == 0 || !frames.push(instruction) {
            return Ok(End::Unknown);
        }
    }
}

/// The registers of the caller of a function whose frame's address is kept in memory: the instruction, the stack pointer
/// and the frame pointer. What is kept may be none: of OCaml's fibers that nobody waits for.
#[cold]
fn caller(kept: Kept, stack: usize, frame: usize) -> Option<(usize, usize, usize)> {
    let from = if kept.base == Base::Stack { stack } else { frame };
    let pointer = checked::word(from.wrapping_add_signed(isize::from(kept.at)))?;
    let caller = match kept.second {
        None => pointer.wrapping_add(usize::from(kept.above)),
        Some(above) => checked::word(pointer)?.wrapping_add(usize::from(above)),
    };
    if !caller.is_multiple_of(WORD) {
        return None;
    }
    let instruction = checked::word(caller.wrapping_sub(WORD))?;
    let frame = match usize::from(kept.saved) {
        0 => frame,
        saved => checked::word(caller.wrapping_sub(saved))?,
    };
    Some((instruction, caller, frame))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::callstack::{MAX_FRAMES, backtrace};

    /// The same callers as libgcc's unwinder finds.
    #[inline(never)]
    fn compare(limit: usize) -> usize {
        let here = Registers::here();
        let (mut fast, mut slow) = (Frames::up_to(limit), Frames::up_to(limit));
        assert!(walk(&here, &mut fast).is_ok());
        backtrace::walk(&here, &mut slow);
        let depth = fast.callstack().frames().len();
        assert_eq!(fast.callstack().frames(), slow.callstack().frames());
        depth
    }

    #[inline(never)]
    fn below(levels: usize, limit: usize) -> usize {
        if levels == 0 { compare(limit) } else { black_box(below(levels - 1, limit)) }
    }

    /// Below a large frame.
    #[inline(never)]
    fn with_large_frame(levels: usize) -> usize {
        let large = black_box([1_u8; 10_000]);
        below(levels, MAX_FRAMES) + usize::from(large[levels]) - 1
    }

    #[test]
    fn it_finds_what_libgcc_finds() {
        for _ in 0..3 {
            assert!(below(0, MAX_FRAMES) > 3);
            assert!(below(40, MAX_FRAMES) > 40);
            assert!(with_large_frame(7) > 7);
        }
        assert_eq!(below(40, 12), 12);
        assert_eq!(below(1000, MAX_FRAMES), MAX_FRAMES);
    }

    #[test]
    fn a_thread_is_known_to_be_in_no_handler() {
        assert!(crate::callstack::is_uninterrupted(&Registers::here()));
        assert!(
            std::thread::spawn(|| crate::callstack::is_uninterrupted(&Registers::here()))
                .join()
                .unwrap()
        );
    }

    extern "C" fn compared(left: *const std::ffi::c_void, _: *const std::ffi::c_void) -> i32 {
        // SAFETY: the elements of the array below.
        let levels = unsafe { *left.cast::<usize>() };
        i32::from(below(levels, MAX_FRAMES) == 0)
    }

    /// Through a function of libc.
    #[test]
    fn it_passes_through_libraries() {
        let mut levels = [3_usize, 1, 2];
        // SAFETY: an array of three elements of this size, and a function that compares them.
        unsafe {
            libc::qsort(levels.as_mut_ptr().cast(), 3, size_of::<usize>(), Some(compared));
        }
        rules_are_learned_again();
    }

    fn rules_are_learned_again() {
        rules::forget();
        assert!(below(5, MAX_FRAMES) > 5);
    }

    /// An interrupted function has a frame of another form.
    #[test]
    fn it_leaves_signal_handlers_to_libgcc() {
        extern "C" fn handler(_: i32) {
            let here = Registers::here();
            let (mut fast, mut slow) = (Frames::up_to(MAX_FRAMES), Frames::up_to(MAX_FRAMES));
            assert_eq!(walk(&here, &mut fast), Err(OtherForm));
            assert!(!crate::callstack::is_uninterrupted(&here));
            backtrace::walk(&here, &mut slow);
            assert!(slow.callstack().frames().len() > 3);
        }
        // SAFETY: the handler is that of a signal which is raised here, in this thread.
        unsafe {
            let before = libc::signal(libc::SIGUSR2, handler as extern "C" fn(i32) as usize);
            libc::raise(libc::SIGUSR2);
            libc::signal(libc::SIGUSR2, before);
        }
    }
}
