//! What each thread has of its own: bytes before it must look, and its stream of random numbers.
//!
//! It needs no initialisation and has no destructor, so that it can be used from the thread's first
//! allocation to its last.

use std::mem::MaybeUninit;
#[cfg(all(feature = "preloaded", target_arch = "x86_64"))]
use std::mem::offset_of;

use crate::draw::Draws;
use crate::rate::{Rate, Unit};
use crate::thread_slot::with;
#[cfg(all(feature = "preloaded", target_arch = "x86_64"))]
use crate::thread_slot::{Thread, subtract};
use crate::units::{Bytes, Samples};

/// Bytes after which a thread looks whether a profile was started or stopped. That takes some nanoseconds.
const LOOK_EVERY: u64 = 64 << 10;

/// What a thread must know of a profile to draw.
#[derive(Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) rate: Rate,
    pub(crate) generation: u64,
    /// What sizes are rounded up to.
    pub(crate) unit: Unit,
}

/// What a block is counted as: one number to add, whatever its size is rounded up to. Of these bytes the first
/// are the block's; samples among the rest are left out.
#[inline]
const fn counted_as(size: Bytes) -> u64 {
    size.0.wrapping_add(Unit::WORD.rounding())
}

/// Counts allocated bytes. `true` if the thread must look whether they are sampled.
#[inline]
pub(crate) fn count(size: Bytes) -> bool {
    #[cfg(all(feature = "preloaded", target_arch = "x86_64"))]
    // SAFETY: the field is a number of 64 bits.
    return unsafe { subtract::<{ offset_of!(Thread, left) }>(counted_as(size)) };
    #[cfg(not(all(feature = "preloaded", target_arch = "x86_64")))]
    with(|thread| {
        let (left, is_used_up) = thread.left.get().overflowing_sub(counted_as(size));
        thread.left.set(left);
        is_used_up
    })
}

/// The bytes that were counted last, when the thread had to look, were not allocated.
pub(crate) fn uncount(size: Bytes) {
    with(|thread| thread.left.set(thread.left.get().wrapping_add(counted_as(size))));
}

/// Bytes before this thread must look.
pub(crate) fn left() -> Bytes {
    with(|thread| Bytes(thread.left.get()))
}

/// No profile is running: the bytes that were counted are no one's.
pub(crate) fn forget_counted() {
    with(|thread| {
        thread.generation.set(0);
        thread.grant(LOOK_EVERY);
    });
}

/// Draws for a block whose size was counted last. `seed` is for the thread's first draw of this profile.
pub(crate) fn draw(profile: Drawn, size: Bytes, seed: impl FnOnce() -> u64) -> Samples {
    with(|thread| {
        let counted = counted_as(size);
        let before = thread.left.get().wrapping_add(counted);
        let passed = thread.granted.get().saturating_sub(before);
        let mut draws = if thread.generation.replace(profile.generation) == profile.generation {
            // SAFETY: the draws of the profile that the thread has noted were stored with it.
            let mut draws = unsafe { thread.draws.replace(MaybeUninit::uninit()).assume_init() };
            draws.pass_over(Bytes(passed));
            draws
        } else {
            Draws::new(profile.rate, seed())
        };
        let rounded = profile.unit.round_up(size);
        let samples = draws.samples_of(rounded);
        // Drawn for what was counted besides, which is no block's.
        draws.samples_of(Bytes(counted.saturating_sub(rounded.0)));
        let unsampled = draws.unsampled().0;
        // The profile of a preloaded library is never stopped.
        let is_for_ever = cfg!(feature = "preloaded");
        thread.grant(if is_for_ever { unsampled } else { unsampled.min(LOOK_EVERY) });
        thread.draws.set(MaybeUninit::new(draws));
        samples
    })
}

/// Whether nothing is sampled in this thread.
pub(crate) fn is_suspended() -> bool {
    with(|thread| thread.suspended.get() != 0)
}

/// While it exists, nothing that this thread allocates is counted.
pub(crate) struct Suspension {
    left: u64,
}

impl Suspension {
    pub(crate) fn begin() -> Self {
        with(|thread| {
            thread.suspended.set(thread.suspended.get() + 1);
            // More than any thread ever allocates.
            Self { left: thread.left.replace(u64::MAX) }
        })
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        with(|thread| {
            thread.suspended.set(thread.suspended.get() - 1);
            thread.left.set(self.left);
        });
    }
}

/// Notes that this thread uses the current profile, or has ended a use.
pub(crate) fn note_use(begins: bool) {
    with(|thread| {
        let in_use = thread.in_use.get();
        thread.in_use.set(if begins { in_use + 1 } else { in_use - 1 });
    });
}

/// How often this thread uses the current profile at this moment.
pub(crate) fn uses() -> u32 {
    with(|thread| thread.in_use.get())
}

/// The next allocation looks, and draws from random numbers of its own.
pub(crate) fn restart() {
    with(|thread| {
        thread.generation.set(0);
        if thread.suspended.get() == 0 {
            thread.grant(0);
        }
    });
}
