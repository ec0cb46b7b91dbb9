//! OCaml 5's sampler in a program that runs: all domains are given a profile of ours, and lose it again, while they are
//! stopped.
//!
//! `caml_memprof_start` is not called: it allocates, which no domain may do in such a stop, and serves one domain only. The
//! profile is static data ([`super::static_profile`]), and what a domain does when it is given one follows from
//! `runtime/memprof.c`: it and its threads hold it, and distances are drawn anew.

use std::ffi::c_void;
use std::mem;

use memtrail_ocaml::Memory as _;
use memtrail_ocaml::block::{UNIT, Value};
use memtrail_ocaml::layout::GenerationState;
use memtrail_ocaml::memory::ThisProcess;
use memtrail_ocaml::memprof::{self, DISTANCES, domain, entries, thread};
use memtrail_ocaml::symbols;

use crate::context::target::Target;
use crate::os::symbol::symbol;
use crate::random::splitmix::{self, SplitMix};
use crate::sampling::arguments::Arguments;
use crate::sampling::static_profile::{self, Profiles};
use crate::sampling::{new_domains, seeding};

/// More threads of a domain are not looked at: the list is none.
const MAX_THREADS: usize = 100_000;
/// Keeps the numbers apart from those that the runtime gets.
const STREAM: u64 = 0x6a6f_696e_2061_6865;
const UNEXPECTED: &str = "the runtime's sampler is not as expected";

type OfDomain = unsafe extern "C" fn(u64);

/// The sampler's structures of a domain.
struct DomainSampler {
    memory: ThisProcess,
    /// `memprof_domain_s`.
    at: u64,
    /// `memprof_thread_s` of all its threads.
    threads: Vec<u64>,
}

impl DomainSampler {
    /// Finds the structures of the domain with this state, if they are laid out as expected.
    fn of(target: &Target, state: u64) -> Option<Self> {
        let GenerationState::Multicore(fields) = target.runtime.layout.state.generation else {
            return None;
        };
        let memory = target.memory;
        let at = memory.field(state, fields.memprof?)?;
        let used = memory.field(at, domain::USED)? as u32;
        if memory.field(at, domain::STATE)? != state || used > DISTANCES {
            return None;
        }
        let mut threads = Vec::new();
        let mut next = memory.field(at, domain::THREADS)?;
        while next != 0 {
            if memory.field(next, thread::DOMAIN)? != at || threads.len() >= MAX_THREADS {
                return None;
            }
            threads.push(next);
            next = memory.field(next, thread::NEXT)?;
        }
        Some(Self { memory, at, threads })
    }

    /// Places of the profiles of the domain and of its threads: each is the last field of a table of sampled blocks.
    fn holders(&self) -> impl Iterator<Item = u64> {
        let threads = self.threads.iter().map(|thread| thread + thread::PROFILE);
        [self.at + domain::PROFILE].into_iter().chain(threads)
    }

    /// True if nothing is sampled, and no table has a block.
    fn is_free(&self) -> bool {
        self.holders().all(|at| {
            self.memory.u64(at) == Some(UNIT) && self.memory.u64(at - entries::SIZE) == Some(0)
        })
    }

    /// True if a thread is in the midst of a callback.
    fn calls_back(&self) -> bool {
        self.threads.iter().any(|&at| {
            let is_suspended = self.memory.field(at, thread::SUSPENDED).map(|word| word & 0xff);
            let table = self.memory.field(at, thread::RUNNING_TABLE);
            is_suspended != Some(0) || table != Some(0)
        })
    }
}

/// True if the program samples by itself, or has blocks that it sampled, or if that cannot be told.
pub(super) fn is_in_use(target: &Target, domains: &[u64]) -> bool {
    domains
        .iter()
        .any(|&state| DomainSampler::of(target, state).is_none_or(|sampler| !sampler.is_free()))
}

/// True if a thread is in the midst of a callback, or if that cannot be told.
pub(super) fn calls_back(target: &Target, domains: &[u64]) -> bool {
    domains
        .iter()
        .any(|&state| DomainSampler::of(target, state).is_none_or(|sampler| sampler.calls_back()))
}

/// The runtime's functions by which a domain begins to look for its next sample.
fn of_domains() -> Option<[OfDomain; 2]> {
    let find = |name| {
        let function = symbol(name);
        // SAFETY: the runtime declares both with this type.
        (!function.is_null()).then(|| unsafe { mem::transmute::<*mut c_void, OfDomain>(function) })
    };
    Some([find(symbols::memprof::SET_TRIGGER)?, find(symbols::memprof::RESET_YOUNG_LIMIT)?])
}

/// Gives all domains a profile of ours.
///
/// # Safety
/// All domains are stopped, and have these states. Their samplers are not in use.
pub(super) unsafe fn join(
    target: &'static Target,
    arguments: &Arguments,
    domains: &[u64],
) -> Result<Profiles, &'static str> {
    let functions = of_domains().ok_or(UNEXPECTED)?;
    let samplers = domains.iter().map(|&state| DomainSampler::of(target, state));
    let samplers: Vec<_> = samplers.collect::<Option<_>>().ok_or(UNEXPECTED)?;
    let profiles = static_profile::make(target, arguments).ok_or(UNEXPECTED)?;
    // SAFETY: as the caller promises.
    unsafe { new_domains::watch(target) };
    for (&state, sampler) in domains.iter().zip(&samplers) {
        let number = target.runtime.layout.multicore().map(|fields| fields.id);
        let number = number.and_then(|id| target.memory.field(state, id)).unwrap_or(0) as u16;
        let mut numbers = SplitMix(target.seed ^ STREAM ^ u64::from(number) << 48);
        let ahead = splitmix::distance(numbers.next(), target.options.rate) - 1;
        // SAFETY: the domain is stopped, so these fields are nobody's. The functions write fields of its state.
        unsafe {
            seeding::seed_domain(target, state, number.into());
            for at in sampler.holders() {
                (at as *mut Value).write(profiles.first());
            }
            ((sampler.at + domain::USED) as *mut u32).write(DISTANCES);
            ((sampler.at + domain::AHEAD) as *mut u64).write(ahead);
            for function in &functions {
                function(state);
            }
        }
    }
    Ok(profiles)
}

/// Takes our profile from all domains, with the blocks that were sampled for it.
///
/// # Safety
/// All domains are stopped, and have these states. No thread is in the midst of a callback.
pub(super) unsafe fn leave(target: &Target, ours: Value, domains: &[u64]) {
    // SAFETY: as the caller promises.
    unsafe { new_domains::leave() };
    // The runtime empties the tables of domains that have ended by itself, and calls nothing for them any more.
    static_profile::discard_all();
    let Some(functions) = of_domains() else { return };
    let memory = target.memory;
    for &state in domains {
        let Some(sampler) = DomainSampler::of(target, state) else { continue };
        for at in sampler.holders() {
            let held = memory.u64(at).unwrap_or(UNIT);
            if !memprof::is_profile_of(&memory, held, ours) {
                continue;
            }
            // SAFETY: the table's fields, while its domain is stopped and no callback uses it. An empty table without a
            // profile is what a domain begins with.
            unsafe {
                for field in [entries::SIZE, entries::YOUNG, entries::EVICT, entries::ACTIVE] {
                    ((at - field) as *mut u64).write(0);
                }
                (at as *mut Value).write(UNIT);
            }
        }
        // SAFETY: they write fields of the state of a domain that is stopped.
        unsafe {
            for function in &functions {
                function(state);
            }
        }
    }
    static_profile::forget();
}
