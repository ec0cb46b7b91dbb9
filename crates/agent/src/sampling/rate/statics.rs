//! OCaml 4's sampler: private variables of `runtime/memprof.c`, found by what they do.
//!
//! They have no symbols, but stand beside one that has, `caml_memprof_young_trigger`. Before the
//! program runs, the sampler is started and stopped several times, at different rates. After each
//! start four variables must have values that follow from what is exported: the logarithm from the
//! rate, the distances from where the next sample is to be, their use from how often one was drawn,
//! the distance in blocks from C from the first of them. A place that had the right value every time,
//! if it is the only one, is the variable. Otherwise the rate stays as it is.

use std::ffi::c_void;
use std::mem;

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::memprof::{DISTANCES, reciprocal_logarithm};
use memtrail_ocaml::symbols;

use crate::context::target::Target;
use crate::os::objects::writable_around;
use crate::os::symbol::symbol;
use crate::sampling::arguments::Arguments;
use crate::sampling::value::Float;

/// Bytes on both sides of the symbol that are looked through. All of the file's variables take less.
pub(in crate::sampling) const VICINITY: u64 = 16 << 10;
/// Rates of the trials: samples are a few words apart, so that the next one is within the minor heap.
const TRIALS: [f64; 6] = [0.051, 0.043, 0.037, 0.059, 0.047, 0.041];
/// Distances drawn in each trial after those that the start draws.
const DRAWS: u32 = 6;

/// Addresses of the variables.
pub(crate) struct Statics {
    /// `float one_log1m_lambda`.
    logarithm: u64,
    /// `uint32_t rand_pos`: how many distances are used up.
    used: u64,
    /// `uintnat next_rand_geom`.
    ahead: u64,
}

/// Places that may still be a variable.
struct Candidates {
    logarithm: Vec<u64>,
    used: Vec<u64>,
    distances: Vec<u64>,
    ahead: Vec<u64>,
}

impl Statics {
    /// Finds them.
    ///
    /// # Safety
    /// The values are right for `caml_memprof_start`, which may be called here and now, and samples nothing.
    pub(crate) unsafe fn find(target: &Target, arguments: &Arguments) -> Option<Self> {
        let single = *target.runtime.layout.single()?;
        let memory = target.memory;
        let trigger = Some(symbol(symbols::memprof::YOUNG_TRIGGER) as u64).filter(|&at| at != 0)?;
        let renew = Some(symbol(symbols::memprof::RENEW)).filter(|at| !at.is_null())?;
        // SAFETY: the runtime declares the function with this type.
        let renew = unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn()>(renew) };
        let words = writable_around(trigger, VICINITY)?;
        let halves = || (words.start..words.end).step_by(4);
        let mut candidates = Candidates {
            logarithm: halves().collect(),
            used: halves().collect(),
            distances: (words.start..words.end - 8 * u64::from(DISTANCES)).step_by(8).collect(),
            ahead: (words.start..words.end).step_by(8).collect(),
        };
        // The distance to the next sample in the minor heap, if it is there.
        let state = target.runtime.state();
        let next = || {
            let young = memory.field(state, target.runtime.layout.state.young_ptr)?;
            let first = memory.field(state, single.young_alloc_start)?;
            let at = memory.u64(trigger).filter(|&at| at > first)?;
            Some(young.checked_sub(at)? / 8 + 1)
        };
        for rate in TRIALS {
            let boxed: &Float = Box::leak(Box::new(Float::new(rate)));
            // SAFETY: as the caller promises.
            unsafe {
                target.runtime.start_sampler(boxed.value(), arguments.frames, arguments.tracker)
            };
            for drawn in 1..=DRAWS {
                candidates.drawn(memory, drawn, next());
                // SAFETY: draws a distance; nothing is allocated meanwhile.
                unsafe { renew() };
            }
            candidates.started(memory, rate);
            // SAFETY: it was started just now, and has sampled nothing.
            unsafe { target.runtime.stop_sampler() };
        }
        candidates.only()
    }

    /// Lets the sampler go on at this rate, with so many words ahead of the next sample in blocks
    /// from C.
    ///
    /// # Safety
    /// The caller holds the runtime's lock.
    pub(crate) unsafe fn set(&self, rate: f64, ahead: u64) {
        // SAFETY: the sampler's own variables, under the runtime's lock, as the caller promises.
        unsafe {
            (self.logarithm as *mut f32).write_volatile(reciprocal_logarithm(rate) as f32);
            (self.used as *mut u32).write_volatile(DISTANCES);
            (self.ahead as *mut u64).write_volatile(ahead);
        }
    }
}

impl Candidates {
    /// Keeps those that are right since a start at this rate.
    fn started(&mut self, memory: ThisProcess, rate: f64) {
        let logarithm = (reciprocal_logarithm(rate) as f32).to_bits();
        self.logarithm.retain(|&at| half(memory, at) == Some(logarithm));
        let distances = &self.distances;
        self.ahead.retain(|&at| {
            let ahead = memory.u64(at);
            distances.iter().any(|&first| memory.u64(first).and_then(|d| d.checked_sub(1)) == ahead)
        });
    }

    /// Keeps those that are right after so many distances were drawn for the minor heap, the last of
    /// which is known unless it leads out of it.
    fn drawn(&mut self, memory: ThisProcess, times: u32, last: Option<u64>) {
        // The start draws one more, for blocks from C.
        self.used.retain(|&at| half(memory, at) == Some(times + 1));
        let Some(last) = last else { return };
        self.distances.retain(|&at| memory.field(at, 8 * u64::from(times)) == Some(last));
    }

    fn only(&self) -> Option<Statics> {
        let only = |all: &[u64]| match all {
            [at] => Some(*at),
            _ => None,
        };
        only(&self.distances)?;
        Some(Statics {
            logarithm: only(&self.logarithm)?,
            used: only(&self.used)?,
            ahead: only(&self.ahead)?,
        })
    }
}

fn half(memory: ThisProcess, at: u64) -> Option<u32> {
    let word = memory.u64(at & !7)?;
    Some((word >> (8 * (at & 4))) as u32)
}
