//! Domains that a program of OCaml 5.3 or later spawns: each gets random numbers of its own.
//!
//! The runtime seeds a domain's generator with the number of its slot (`caml_memprof_new_domain` in `runtime/memprof.c`), and
//! draws from it at once. Domains that follow each other in a slot would all sample the same words: what they allocate was
//! estimated at half or at twice its size, however many they are. So calls of that function arrive here first.

use std::ffi::c_void;
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use memtrail_ocaml::layout::GenerationState;
use memtrail_ocaml::memprof::{self, DISTANCES, domain};
use memtrail_ocaml::{Memory as _, symbols};

use crate::context::functions::size_of_function;
use crate::context::target::Target;
use crate::os::ffi_guard::guarded;
use crate::os::function_hooks::{Begun, FunctionHook, Prepared, prepare};
use crate::os::lock::Lock;
use crate::os::replaceable::Replaceable;
use crate::os::symbol::symbol;
use crate::random::splitmix::{self, SplitMix};
use crate::recording::notes::note;
use crate::sampling::start::OUR_PROFILE;
use crate::sampling::{rate, seeding};

type NewDomain = unsafe extern "C" fn(u64, u64);

/// The hook, made once, and the function as it can be called.
static PREPARED: OnceLock<Option<(Prepared, NewDomain)>> = OnceLock::new();
/// The program that is recorded, while domains are seeded.
static TARGET: Replaceable<&'static Target> = Replaceable::new();
static BEGUN: Lock<Option<Begun>> = Lock::new(None);
/// The next domain. Smaller numbers are those of the slots in which domains were found.
static NEXT: AtomicU32 = AtomicU32::new(1 << 16);
static NOTED: AtomicBool = AtomicBool::new(false);
const NOTE: &str = "estimates of domains that ended soon are uncertain: the runtime's sampler begins each with the same random \
     numbers, and its code is not as expected";
/// Keeps the numbers apart from those that the runtime gets.
const STREAM: u64 = 0x7370_6177_6e65_6421;

/// Seeds domains that are spawned from now on. Where the function is not as expected, they are seeded at their first sample.
///
/// # Safety
/// No thread runs the function: there is one thread, or all domains are stopped.
pub(super) unsafe fn watch(target: &'static Target) {
    let Some((prepared, _)) = PREPARED.get_or_init(hook) else { return };
    if TARGET.set(target) {
        // SAFETY: as the caller promises; the function does not begin with a loop in the sources of these versions.
        match unsafe { prepared.begin() } {
            Ok(begun) => *BEGUN.lock() = Some(begun),
            Err(_) => TARGET.clear(),
        }
    }
}

/// Leaves domains to the runtime again.
///
/// # Safety
/// No thread runs the function: all domains are stopped.
pub(super) unsafe fn leave() {
    if let Some(begun) = BEGUN.lock().take() {
        // Should it fail, ours only calls the runtime's.
        let _ = begun.end();
        TARGET.clear();
    }
}

fn hook() -> Option<(Prepared, NewDomain)> {
    let name = symbols::memprof::NEW_DOMAIN;
    let function = symbol(name);
    if function.is_null() {
        return None;
    }
    let ours = new_domain as NewDomain as *const c_void;
    let hook = FunctionHook { name, function, size: size_of_function(name), ours };
    let prepared = prepare(&[hook]).ok()?;
    let original = *prepared.originals.first()?;
    // SAFETY: the runtime declares it with this type (see `symbols`), and it begins there as it was compiled.
    let original = unsafe { transmute::<u64, NewDomain>(original) };
    Some((prepared, original))
}

/// In place of `caml_memprof_new_domain`, on the thread of the new domain, which has no minor heap yet.
unsafe extern "C" fn new_domain(parent: u64, state: u64) {
    let Some(Some((_, original))) = PREPARED.get() else { return };
    // SAFETY: the runtime's own call.
    unsafe { original(parent, state) };
    if let Some(target) = TARGET.get() {
        guarded((), || seed(target, state));
    }
}

fn seed(target: &Target, state: u64) {
    let GenerationState::Multicore(fields) = target.runtime.layout.state.generation else { return };
    let memory = target.memory;
    let sampler = fields.memprof.and_then(|offset| memory.field(state, offset));
    let Some(sampler) = sampler.filter(|&at| memory.u64(at) == Some(state)) else { return };
    let profile = memory.field(sampler, domain::PROFILE);
    let (Some(profile), Some(&ours)) = (profile, OUR_PROFILE.get()) else { return };
    let is_as_expected = memory.u32(sampler + domain::USED).is_some_and(|used| used <= DISTANCES);
    // Not if the program samples by itself.
    if !is_as_expected || !memprof::is_profile_of(&memory, profile, ours) {
        return;
    }
    let number = NEXT.fetch_add(1, Relaxed);
    let rate = rate::current(target, state).of(target.options.rate);
    let mut numbers = SplitMix(target.seed ^ STREAM ^ u64::from(number) << 32);
    let ahead = splitmix::distance(numbers.next(), rate) - 1;
    // SAFETY: the sampler of a domain that is being made on this thread; nobody else knows it. The distances that were drawn
    // are used up, so that the next are drawn by the new numbers.
    unsafe {
        seeding::seed_domain(target, state, number);
        ((sampler + domain::USED) as *mut u32).write(DISTANCES);
        ((sampler + domain::AHEAD) as *mut u64).write(ahead);
    }
}

/// A domain was found, by its first sample: it is seeded now, if it was not as it was spawned.
///
/// # Safety
/// The domain is that of this thread.
pub(crate) unsafe fn domain_found(target: &Target, state: u64, number: u16) {
    // The sampler of ours that takes the place of the runtime's has numbers of its own.
    if TARGET.get().is_some() || OUR_PROFILE.get().is_none() {
        return;
    }
    // SAFETY: as the caller promises.
    unsafe { seeding::seed_domain(target, state, number.into()) };
    if !NOTED.swap(true, Relaxed) {
        note(NOTE.into());
    }
}
