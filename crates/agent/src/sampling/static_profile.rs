//! OCaml 5's profile as static data.
//!
//! `caml_memprof_start` makes a block for it in the major heap, which `Gc.stat` would count to the
//! program: so the domain is given a copy of ours in its place, and the block is left to the
//! collector. One field leads to a boxed number in the minor heap, which all domains read during minor
//! collections until the first of them moves it (ocaml/ocaml#14300): the copy has it where nothing
//! moves. Source: `runtime/memprof.c` of 5.3.
//!
//! There is a copy for each rate, and none ever changes until sampling ends. The one that a domain has tells at which rate
//! all its distances were drawn; a domain that is spawned inherits it. Another rate is another copy.

use memtrail_ocaml::block::{self, UNIT, Value};
use memtrail_ocaml::layout::GenerationState;
use memtrail_ocaml::memory::{Memory as _, ThisProcess};
use memtrail_ocaml::memprof::{
    self, DISTANCES, TRACKER_WOSIZE, domain, entries, profile, reciprocal_logarithm, thread,
};
use memtrail_recording::rates::MAX_HALVINGS;

use crate::context::halvings::Halvings;
use crate::context::target::Target;
use crate::os::replaceable::Replaceable;
use crate::sampling::arguments::Arguments;
use crate::sampling::value::{Float, Record};

type Profile = Record<{ profile::WOSIZE as usize }>;

/// All copies, once there are some.
static COPIES: Replaceable<&'static [Profile]> = Replaceable::new();

/// The copies: that at index k is for the base rate, halved k times.
pub(crate) struct Profiles(&'static [Profile]);

/// Puts a copy in the place of `profile`, whose first callback is `ours`, while there is one domain
/// and one thread of it. What is not laid out as expected is left as it is.
///
/// # Safety
/// `made` is what `caml_memprof_start` gave just now, on the thread of the only domain.
pub(crate) unsafe fn replace(target: &Target, made: Value, ours: u64) -> Option<Profiles> {
    let memory = target.memory;
    if !memprof::is_profile_of(&memory, made, ours) {
        return None;
    }
    let number = logarithm(memory, made)?;
    let logarithm = made + profile::LOGARITHM * 8;
    // SAFETY: a field of the profile, which nobody else knows yet. It may be in the remembered set,
    // which the collector reads to no effect when the field does not lead to the minor heap.
    unsafe { (logarithm as *mut Value).write(number) };
    let holders = holders(target, memory, made)?;
    let fields = std::array::from_fn(|at| memory.field(made, 8 * at as u64).unwrap_or(0));
    let profiles = keep(fields, target.options.rate);
    for at in holders {
        // SAFETY: fields of the sampler's tables, which hold this profile and nothing else; only
        // this domain uses them, on whose thread we are.
        unsafe { (at as *mut Value).write(profiles.first()) };
    }
    has_drawn(target, memory).then_some(profiles)
}

/// Makes profiles for a program that runs, of which no domain has one yet.
pub(super) fn make(target: &Target, arguments: &Arguments) -> Option<Profiles> {
    let memory = target.memory;
    let boxed = |number| Box::leak(Box::new(Float::new(number))).value();
    let callbacks = (0..TRACKER_WOSIZE).map(|field| memory.field(arguments.tracker, 8 * field));
    let callbacks: Vec<Value> = callbacks.collect::<Option<_>>()?;
    let mut fields = [UNIT; profile::WOSIZE as usize];
    fields[profile::STATUS as usize] = block::integer(profile::SAMPLING);
    fields[profile::RATE as usize] = arguments.rate;
    fields[profile::LOGARITHM as usize] = boxed(reciprocal_logarithm(target.options.rate));
    fields[profile::FRAMES as usize] = arguments.frames;
    fields.get_mut(profile::CALLBACKS as usize..)?.copy_from_slice(&callbacks);
    Some(keep(fields, target.options.rate))
}

/// Keeps a profile, and those for all halved rates.
fn keep(fields: [Value; profile::WOSIZE as usize], base: f64) -> Profiles {
    let profiles: &[Profile] =
        (0..=MAX_HALVINGS).map(|k| copy(fields, base, Halvings(k))).collect::<Vec<_>>().leak();
    COPIES.set(profiles);
    Profiles(profiles)
}

/// Forgets all copies: no domain has one any more.
pub(super) fn forget() {
    COPIES.clear();
}

/// Stops all copies, whichever domains have them.
pub(super) fn stop_all() {
    set_status(profile::STOPPED);
}

/// Stops all copies for good: the runtime forgets the blocks that were sampled for them.
pub(super) fn discard_all() {
    set_status(profile::DISCARDED);
}

fn set_status(wanted: i64) {
    for copy in COPIES.get().copied().unwrap_or_default() {
        let status = (copy.value() + profile::STATUS * 8) as *mut Value;
        // SAFETY: a field of ours, which the runtime writes as well; an integer replaces an integer.
        unsafe { status.write_volatile(block::integer(wanted)) };
    }
}

/// Keeps the tables of sampled blocks at their sizes in the domain with this state: none is made smaller any more.
pub(super) fn keep_sizes(target: &Target, state: u64) {
    let memory = target.memory;
    let keep = |at: u64| {
        let is_ours = |held: &Value| {
            COPIES.get().is_some_and(|copies| copies.iter().any(|copy| copy.value() == *held))
        };
        let capacity = memory.u64(at - entries::CAPACITY).unwrap_or(0);
        if memory.u64(at).as_ref().is_some_and(is_ours) && capacity > 0 {
            // SAFETY: a number in a table of the sampler's, which is known by our profile.
            unsafe { ((at - entries::MIN_CAPACITY) as *mut u64).write_volatile(capacity) };
        }
    };
    let Some(sampler) = sampler(target, state) else { return };
    keep(sampler + domain::PROFILE);
    let mut next = memory.field(sampler, domain::THREADS).unwrap_or(0);
    while next != 0 {
        keep(next + thread::PROFILE);
        next = memory.field(next, thread::NEXT).unwrap_or(0);
    }
}

/// A profile with the same callbacks for the halved rate.
fn copy(mut fields: [Value; profile::WOSIZE as usize], base: f64, halvings: Halvings) -> Profile {
    if halvings != Halvings(0) {
        let rate = halvings.of(base);
        let boxed = |number| Box::leak(Box::new(Float::new(number))).value();
        fields[profile::RATE as usize] = boxed(rate);
        fields[profile::LOGARITHM as usize] = boxed(reciprocal_logarithm(rate));
    }
    Record::new(fields)
}

impl Profiles {
    /// The profile with the base rate.
    pub(super) fn first(&self) -> Value {
        self.0.first().map_or(UNIT, Record::value)
    }

    fn index(&self, value: Value) -> Option<usize> {
        let distance = value.checked_sub(self.0.first()?.value())? as usize;
        let index = distance / size_of::<Profile>();
        (distance.is_multiple_of(size_of::<Profile>()) && index < self.0.len()).then_some(index)
    }

    /// The rate of the domain with this state.
    pub(crate) fn current(&self, target: &Target, state: u64) -> Halvings {
        let memory = target.memory;
        let find = || self.index(memory.field(sampler(target, state)?, domain::PROFILE)?);
        Halvings(find().unwrap_or(0) as u8)
    }

    /// Gives another rate to the domain with this state, on whose thread we are, with so many words
    /// ahead of the next sample in blocks from C.
    ///
    /// # Safety
    /// `state` is that of a domain on whose thread we are.
    pub(crate) unsafe fn choose(&self, target: &Target, state: u64, wanted: Halvings, ahead: u64) {
        let memory = target.memory;
        let Some(chosen) = self.0.get(usize::from(wanted.0)) else { return };
        let Some(sampler) = sampler(target, state) else { return };
        let is_ours = |at| memory.u64(at).is_some_and(|held| self.index(held).is_some());
        if !is_ours(sampler + domain::PROFILE) {
            return;
        }
        // SAFETY: fields of the sampler's tables, which hold one of our profiles, and are the domain's
        // own; no block of the heap is concerned.
        let give = |at: u64| unsafe { (at as *mut Value).write(chosen.value()) };
        give(sampler + domain::PROFILE);
        let mut next = memory.field(sampler, domain::THREADS).unwrap_or(0);
        while next != 0 {
            if is_ours(next + thread::PROFILE) {
                give(next + thread::PROFILE);
            }
            next = memory.field(next, thread::NEXT).unwrap_or(0);
        }
        // SAFETY: the domain's own, as above.
        unsafe {
            ((sampler + domain::USED) as *mut u32).write(DISTANCES);
            ((sampler + domain::AHEAD) as *mut u64).write(ahead);
        }
    }
}

/// The sampler of the domain with this state.
fn sampler(target: &Target, state: u64) -> Option<u64> {
    let GenerationState::Multicore(fields) = target.runtime.layout.state.generation else {
        return None;
    };
    target.memory.field(state, fields.memprof?)
}

/// Whether distances are where they are expected, just after the sampler was started.
fn has_drawn(target: &Target, memory: ThisProcess) -> bool {
    let check = || {
        let sampler = sampler(target, target.runtime.state())?;
        let used = memory.field(sampler, domain::USED)? as u32;
        let first = memory.field(sampler, domain::DRAWN)?;
        let ahead = memory.field(sampler, domain::AHEAD)?;
        Some((1..=DISTANCES).contains(&used) && first.checked_sub(1) == Some(ahead))
    };
    check() == Some(true)
}

/// The boxed number, in memory of ours.
fn logarithm(memory: ThisProcess, made: Value) -> Option<Value> {
    let boxed = memory.field(made, profile::LOGARITHM * 8).filter(|at| at.is_multiple_of(8))?;
    let header = memory.u64(boxed.checked_sub(8)?)?;
    let is_float = block::wosize(header) == 1 && block::tag_of(header) == block::tag::DOUBLE;
    let bits = memory.u64(boxed).filter(|_| is_float)?;
    Some(Box::leak(Box::new(Float::new(f64::from_bits(bits)))).value())
}

/// Where the domain and its only thread hold the profile.
fn holders(target: &Target, memory: ThisProcess, made: Value) -> Option<[u64; 2]> {
    let sampler = sampler(target, target.runtime.state())?;
    let first = memory.field(sampler, domain::THREADS)?;
    let alone = memory.field(first, thread::DOMAIN)? == sampler
        && memory.field(first, thread::NEXT)? == 0
        && memory.field(sampler, domain::CURRENT)? == first;
    let holders = [sampler + domain::PROFILE, first + thread::PROFILE];
    let hold = holders.iter().all(|&at| memory.u64(at) == Some(made));
    (alone && hold).then_some(holders)
}
