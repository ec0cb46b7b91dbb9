//! Room for the frames of a callstack.

use std::mem::MaybeUninit;

use crate::units::Address;

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
    pub(super) len: usize,
    pub(super) limit: usize,
}

impl Frames {
    /// Room for so many frames.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it would be copied")]
    pub(crate) fn up_to(limit: usize) -> Self {
        let addresses = [const { MaybeUninit::uninit() }; MAX_FRAMES];
        Self { addresses, len: 0, limit: limit.min(MAX_FRAMES) }
    }

    pub(crate) fn callstack(&self) -> &Callstack {
        let frames: *const [MaybeUninit<Address>] = &raw const self.addresses[..self.len];
        // SAFETY: the first `len` ones were written.
        Callstack::of(unsafe { &*(frames as *const [Address]) })
    }

    /// Adds the next outer frame. `false` if no more are wanted.
    pub(super) fn push(&mut self, frame: usize) -> bool {
        if let Some(to) = self.addresses[..self.limit].get_mut(self.len) {
            to.write(Address(frame));
            self.len += 1;
        }
        self.len < self.limit
    }
}
