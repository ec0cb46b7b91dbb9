//! Gives the runtime's sampler random numbers of this run's own.
//!
//! The runtime seeds its generator with a constant, so every run of every program would have the same
//! gaps between samples, and no number of runs would average to the truth. OCaml 5 keeps the generator's state with
//! the domain, and OCaml 4 in an array that is found by its content ([`Generator`]): there it is written. Where it is not
//! found, numbers are thrown away: each start of OCaml 4's sampler draws a batch. Source: `runtime/memprof.c`.

use memtrail_ocaml::layout::GenerationState;
use memtrail_ocaml::{Memory as _, memprof};

use crate::context::target::Target;
use crate::random::splitmix::SplitMix;
use crate::sampling::arguments::Arguments;
use crate::sampling::generator::Generator;

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

/// OCaml 4: seeds the sampler, just before it is started.
///
/// # Safety
/// The values must be right for `caml_memprof_start`, here and now.
pub(crate) unsafe fn seed_single(
    target: &Target,
    arguments: &Arguments,
    generator: Option<&Generator>,
) {
    if let Some(generator) = generator {
        // SAFETY: as the caller promises.
        return unsafe { generator.seed(target.seed) };
    }
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
pub(crate) unsafe fn seed_domain(target: &Target, state: u64, number: u32) {
    let GenerationState::Multicore(fields) = target.runtime.layout.state.generation else { return };
    if target.runtime.sampler.is_none() {
        return;
    }
    let memory = target.memory;
    let sampler = fields.memprof.and_then(|offset| memory.field(state, offset));
    let Some(sampler) = sampler.filter(|&at| memory.u64(at) == Some(state)) else { return };
    let mut numbers = SplitMix(target.seed ^ u64::from(number) << 32);
    let words = (sampler + memprof::domain::GENERATOR) as *mut u64;
    for index in 0..memprof::domain::GENERATOR_WORDS {
        // SAFETY: the generator's state belongs to this domain; as the caller promises, nobody else uses it.
        unsafe { words.add(index as usize).write(numbers.next()) };
    }
}
