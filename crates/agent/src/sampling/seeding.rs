//! Gives the runtime's sampler random numbers of this run's own.
//!
//! The runtime seeds its generator with a constant, so every run of every program would have the same
//! gaps between samples, and no number of runs would average to the truth. OCaml 4 keeps the
//! generator's state to itself, but each start of the sampler draws a batch of numbers, so some are
//! thrown away; OCaml 5 keeps it with the domain, where it is written. Source: `runtime/memprof.c`.

use memtrail_ocaml::block::{UNIT, Value};
use memtrail_ocaml::layout::FamilyState;
use memtrail_ocaml::{Memory as _, memprof};

use crate::recording::recorder::Target;

/// Starts of the sampler that draw a batch each; a batch takes well under a microsecond.
const MOST_BATCHES: u64 = 4096;

/// `SplitMix64`, the generator that the runtime seeds its own with.
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// From one state to the next.
    pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

/// Words up to and with the next sampled one, each being sampled at this rate, from a random number.
pub(crate) fn distance(number: u64, rate: f64) -> u64 {
    if rate >= 1.0 {
        return 1;
    }
    // Above 0, at most 1.
    let uniform = ((number >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    // Conversion saturates: for ever, at rates that small.
    ((uniform.ln() / (-rate).ln_1p()) as u64).saturating_add(1).min(1 << 60)
}

/// A seed that no other run has.
pub(crate) fn random() -> u64 {
    let mut seed = [0u8; 8];
    // SAFETY: fills the buffer; what it leaves unfilled is no worse a seed.
    unsafe { libc::getrandom(seed.as_mut_ptr().cast(), seed.len(), libc::GRND_NONBLOCK) };
    // Seeds are written down in JSON, where numbers have 53 bits.
    (u64::from_le_bytes(seed) ^ crate::os::clock::monotonic()) >> 11
}

/// Seeds the main domain's sampler, just before it is started with these arguments.
///
/// # Safety
/// The arguments must be right for `caml_memprof_start`, here and now.
pub(crate) unsafe fn seed_main(target: &Target, rate: Value, frames: Value, tracker: Value) {
    match target.runtime.layout.state.family {
        FamilyState::Single(_) => {
            for _ in 0..SplitMix(target.seed).next() % MOST_BATCHES {
                // SAFETY: as the caller promises; nothing is sampled in between.
                unsafe {
                    (target.runtime.start)(rate, frames, tracker);
                    (target.runtime.stop)(UNIT);
                }
            }
        }
        FamilyState::Multicore(_) => seed_domain(target, target.runtime.state(), 0),
    }
}

/// Seeds the sampler of the domain whose state stands at `state`; takes effect with its next batch.
pub(crate) fn seed_domain(target: &Target, state: u64, number: u16) {
    let FamilyState::Multicore(fields) = target.runtime.layout.state.family else { return };
    let memory = target.capturer.memory();
    let sampler = fields.memprof.and_then(|offset| memory.field(state, offset));
    let Some(sampler) = sampler.filter(|&at| memory.u64(at) == Some(state)) else { return };
    let mut numbers = SplitMix(target.seed ^ u64::from(number) << 48);
    let words = (sampler + memprof::domain::GENERATOR) as *mut u64;
    for index in 0..memprof::domain::GENERATOR_WORDS {
        // SAFETY: the generator's state belongs to this domain, on whose thread we are.
        unsafe { words.add(index as usize).write(numbers.next()) };
    }
}
