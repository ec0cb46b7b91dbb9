//! The random numbers of OCaml 4's sampler: where their generator stands, which has no symbol.
//!
//! It is xoshiro128+ 64 times over, an array `xoshiro_state[4][64]` of 32-bit words beside a variable that has a symbol. The
//! sampler's first start fills it from a constant (`xoshiro_init` in `runtime/memprof.c`, from 4.12 on) and draws once from
//! each of the 64. So its content is known then, and is nowhere else.

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::memprof::domain::GENERATOR_WORDS;
use memtrail_ocaml::symbols::memprof::YOUNG_TRIGGER;

use crate::context::target::Target;
use crate::os::objects::writable_around;
use crate::os::symbol::symbol;
use crate::random::splitmix::SplitMix;
use crate::sampling::arguments::Arguments;
use crate::sampling::rate::statics::VICINITY;

/// Generators side by side.
const LANES: usize = 64;
const WORDS: usize = GENERATOR_WORDS as usize;
/// The runtime's seed.
const SEED: u64 = 42;

/// The generator of a runtime.
pub(crate) struct Generator(u64);

impl Generator {
    /// Finds it; `None` if the sampler was started before, or the runtime has another generator.
    ///
    /// # Safety
    /// The values are right for `caml_memprof_start`, which may be called here and now, and samples nothing.
    pub(crate) unsafe fn find(target: &Target, arguments: &Arguments) -> Option<Self> {
        let beside = Some(symbol(YOUNG_TRIGGER) as u64).filter(|&at| at != 0)?;
        let words = writable_around(beside, VICINITY)?;
        // SAFETY: as the caller promises.
        unsafe {
            target.runtime.start_sampler(arguments.rate, arguments.frames, arguments.tracker);
            target.runtime.stop_sampler();
        }
        let expected = drawn_once();
        let last = words.end.checked_sub(8 * WORDS as u64)?;
        let word = |at: u64, index: usize| target.memory.u64(at + 8 * index as u64);
        (words.start..=last)
            .step_by(8)
            .find(|&at| (0..WORDS).all(|index| word(at, index) == Some(expected[index])))
            .map(Self)
    }

    /// Lets the numbers that are drawn from now on follow from a seed.
    ///
    /// # Safety
    /// The caller holds the runtime's lock.
    pub(crate) unsafe fn seed(&self, seed: u64) {
        let mut numbers = SplitMix(seed);
        for index in 0..WORDS {
            // SAFETY: the runtime's own array, under its lock, as the caller promises. Any state but zeros will do.
            unsafe { (self.0 as *mut u64).add(index).write_volatile(numbers.next()) };
        }
    }
}

/// The array after the first start, in words of 64 bits.
fn drawn_once() -> [u64; WORDS] {
    let mut halves = [0_u32; 4 * LANES];
    let mut numbers = SplitMix(SEED);
    for lane in 0..LANES {
        let mut state = [0_u32; 4];
        for pair in state.chunks_exact_mut(2) {
            let number = numbers.next();
            pair.copy_from_slice(&[number as u32, (number >> 32) as u32]);
        }
        draw(&mut state);
        for (row, word) in state.into_iter().enumerate() {
            halves[row * LANES + lane] = word;
        }
    }
    std::array::from_fn(|index| {
        u64::from(halves[2 * index]) | u64::from(halves[2 * index + 1]) << 32
    })
}

/// Lets a generator go on to its next number (`xoshiro_next`).
const fn draw(state: &mut [u32; 4]) {
    let shifted = state[1] << 9;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = state[3].rotate_left(11);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `rand_xoshiro` has them for xoshiro128 with the state 1, 2, 3, 4 (its reference vector).
    #[test]
    fn states_follow_as_published() {
        let mut state = [1_u32, 2, 3, 4];
        let sums = [5_u32, 12_295, 25_178_119, 27_286_542];
        for sum in sums {
            assert_eq!(state[0].wrapping_add(state[3]), sum);
            draw(&mut state);
        }
    }
}
