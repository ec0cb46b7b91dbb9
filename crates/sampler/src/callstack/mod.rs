//! Captures callstacks: by the tables that compilers make for exceptions, without allocating.
//!
//! A table says for each instruction where the caller's registers are. Almost all of them say it in one of a
//! few forms, which fit one word: [`rules`] remembers it for each return address, and [`walk`] follows these
//! words, in a few nanoseconds a frame. What has another form is left to libgcc's unwinder
//! ([`backtrace`]), which interprets the tables anew for each frame.

mod backtrace;
mod checked;
mod eh_frame;
mod registers;
mod rule;
mod rules;
mod walk;

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::units::Address;

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

/// Frames that a callstack has at most.
pub const MAX_FRAMES: usize = 512;

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
    /// Not zeroed: that would take longer than to walk a stack.
    addresses: [MaybeUninit<Address>; MAX_FRAMES],
    len: usize,
    limit: usize,
}

impl Frames {
    /// Room for so many frames.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it would be copied")]
    pub(crate) fn up_to(limit: usize) -> Self {
        let addresses = [const { MaybeUninit::uninit() }; MAX_FRAMES];
        Self { addresses, len: 0, limit: limit.min(MAX_FRAMES) }
    }

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

    pub(crate) fn callstack(&self) -> &Callstack {
        let frames: *const [MaybeUninit<Address>] = &raw const self.addresses[..self.len];
        // SAFETY: the first `len` ones were written.
        Callstack::of(unsafe { &*(frames as *const [Address]) })
    }

    /// Adds the next outer frame. `false` if no more are wanted.
    fn push(&mut self, frame: usize) -> bool {
        if let Some(to) = self.addresses[..self.limit].get_mut(self.len) {
            to.write(Address(frame));
            self.len += 1;
        }
        self.len < self.limit
    }
}
