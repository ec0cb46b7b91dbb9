//! Gives the runtime's sampler random numbers of this run's own.
//!
//! The runtime seeds its generator with a constant, so every run of every program would have the same
//! gaps between samples, and no number of runs would average to the truth. OCaml 4 keeps the
//! generator's state to itself, but each start of the sampler draws a batch of numbers, so some are
//! thrown away; OCaml 5 keeps it with the domain, where it is written. Source: `runtime/memprof.c`.

use memtrail_ocaml::layout::FamilyState;
use memtrail_ocaml::{Memory as _, memprof};

use crate::context::target::Target;
use crate::sampling::arguments::Arguments;
use crate::sampling::splitmix::SplitMix;

/// Starts of the sampler that draw a batch each; a batch takes well under a microsecond.
const MAX_BATCHES: u64 = 4096;

/// A seed that no other run has.
pub(crate) fn random() -> u64 {
    let mut seed = [0u8; 8];
    // SAFETY: fills the buffer; what it leaves unfilled is no worse a seed.
    unsafe { libc::getrandom(seed.as_mut_ptr().cast(), seed.len(), libc::GRND_NONBLOCK) };
    // Seeds are written down in JSON, where numbers have 53 bits.
    (u64::from_le_bytes(seed) ^ crate::os::clock::monotonic()) >> 11
}

/// OCaml 4: throws numbers away that the runtime draws, just before the sampler is started.
///
/// # Safety
/// The values must be right for `caml_memprof_start`, here and now.
pub(crate) unsafe fn draw_batches(target: &Target, arguments: &Arguments) {
    for _ in 0..SplitMix(target.seed).next() % MAX_BATCHES {
        // SAFETY: as the caller promises; nothing is sampled in between.
        unsafe {
            target.runtime.start_sampler(arguments.rate, arguments.frames, arguments.tracker);
            target.runtime.stop_sampler();
        }
    }
}

/// OCaml 5: seeds the sampler of the domain whose state stands at `state`; takes effect with its next batch.
///
/// # Safety
/// The domain is that of this thread.
pub(crate) unsafe fn seed_domain(target: &Target, state: u64, number: u16) {
    let FamilyState::Multicore(fields) = target.runtime.layout.state.family else { return };
    if target.runtime.sampler.is_none() {
        return;
    }
    let memory = target.memory;
    let sampler = fields.memprof.and_then(|offset| memory.field(state, offset));
    let Some(sampler) = sampler.filter(|&at| memory.u64(at) == Some(state)) else { return };
    let mut numbers = SplitMix(target.seed ^ u64::from(number) << 48);
    let words = (sampler + memprof::domain::GENERATOR) as *mut u64;
    for index in 0..memprof::domain::GENERATOR_WORDS {
        // SAFETY: the generator's state belongs to this domain; as the caller promises, nobody else uses it.
        unsafe { words.add(index as usize).write(numbers.next()) };
    }
}
