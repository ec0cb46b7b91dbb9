//! Captures callstacks: by the tables that compilers make for exceptions, without allocating.
//!
//! A table says for each instruction where the caller's registers are. Almost all of them say it in one of a
//! few forms, which fit one word: [`rules`] remembers it for each return address, and [`walk`] follows these
//! words, in a few nanoseconds a frame. What has another form is left to libgcc's unwinder
//! ([`backtrace`]), which interprets the tables anew for each frame.

mod backtrace;
mod checked;
mod eh_frame;
mod frames;
mod registers;
mod rule;
mod rules;
mod walk;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[cfg(any(test, feature = "preloaded"))]
use crate::units::Address;

pub(crate) use frames::Frames;
pub use frames::{Callstack, MAX_FRAMES};
pub use registers::Registers;
pub use rules::forget as forget_rules;

/// Whether libgcc's unwinder is never used. What a frame says of another stack may be nothing, which it does not check.
static ONLY_BY_RULES: AtomicBool = AtomicBool::new(false);

/// From now on callstacks end at frames of which only libgcc's unwinder could find the callers: for programs whose
/// functions are on several stacks, such as OCaml's.
#[cfg(feature = "preloaded")]
pub fn walk_only_by_rules() {
    ONLY_BY_RULES.store(true, Relaxed);
}

/// Whether a function with these registers is certainly in no handler of a signal: all its callers are known, up to the
/// one that its thread began with. `false` if that cannot be told.
#[cfg(any(test, feature = "preloaded"))]
#[cfg_attr(
    not(feature = "preloaded"),
    expect(unreachable_pub, reason = "then it is for tests alone")
)]
pub fn is_uninterrupted(function: &Registers) -> bool {
    walk::walk(function, &mut Frames::up_to(MAX_FRAMES)) == Ok(walk::End::Outermost)
}

impl Frames {
    /// Captures the callers of a function with these registers, the innermost ones.
    ///
    /// In place: what is returned by value is copied, all 4 KiB of it, which takes longer than to walk a stack.
    #[inline(never)]
    pub(crate) fn capture(&mut self, function: &Registers) {
        // Elsewhere libraries may be unloaded that the remembered rules are of: see `forget_rules`.
        let is_remembered = cfg!(feature = "preloaded");
        let is_walked = is_remembered && walk::walk(function, self).is_ok();
        if self.limit != 0 && !is_walked && !ONLY_BY_RULES.load(Relaxed) {
            self.len = 0;
            backtrace::walk(function, self);
        }
    }
}

#[cfg(any(test, feature = "preloaded"))]
impl Registers {
    /// The return address of the function.
    pub fn caller(&self) -> Option<Address> {
        let mut frames = Frames::up_to(1);
        frames.capture(self);
        frames.callstack().frames().first().copied()
    }
}
