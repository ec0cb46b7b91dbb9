//! OCaml 5's profile as static data.
//!
//! `caml_memprof_start` makes a block for it in the major heap, which `Gc.stat` would count to the
//! program: so the domain is given a copy of ours in its place, and the block is left to the
//! collector. One field leads to a boxed number in the minor heap, which all domains read during minor
//! collections until the first of them moves it (ocaml/ocaml#14300): the copy has it where nothing
//! moves. Source: `runtime/memprof.c` of 5.3.

use memtrail_ocaml::block::{self, Value};
use memtrail_ocaml::layout::FamilyState;
use memtrail_ocaml::memory::{Memory as _, ThisProcess};
use memtrail_ocaml::memprof::{self, domain, profile, thread};

use crate::recorder::Target;
use crate::value::{Float, Record};

/// Puts a copy in the place of `profile`, whose first callback is `ours`, while there is one domain
/// and one thread of it. What is not laid out as expected is left as it is.
pub(crate) fn replace(target: &Target, made: Value, ours: u64) {
    let memory = target.capturer.memory();
    if !memprof::is_profile_of(&memory, made, ours) {
        return;
    }
    let Some(number) = logarithm(memory, made) else { return };
    let logarithm = made + profile::LOGARITHM * 8;
    // SAFETY: a field of the profile, which nobody else knows yet. It may stand in the remembered set,
    // which the collector reads to no effect when the field does not lead to the minor heap.
    unsafe { (logarithm as *mut Value).write(number) };
    if let Some(holders) = holders(target, memory, made) {
        let fields = std::array::from_fn(|at| memory.field(made, 8 * at as u64).unwrap_or(0));
        let copy: &Record<{ profile::WOSIZE as usize }> = Box::leak(Box::new(Record::new(fields)));
        for at in holders {
            // SAFETY: fields of the sampler's tables, which hold this profile and nothing else; only
            // this domain uses them, on whose thread we are.
            unsafe { (at as *mut Value).write(copy.value()) };
        }
    }
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
    let FamilyState::Multicore(fields) = target.runtime.layout.state.family else { return None };
    let sampler = memory.field(target.runtime.state(), fields.memprof?)?;
    let first = memory.field(sampler, domain::THREADS)?;
    let alone = memory.field(first, thread::DOMAIN)? == sampler
        && memory.field(first, thread::NEXT)? == 0
        && memory.field(sampler, domain::CURRENT)? == first;
    let holders = [sampler + domain::PROFILE, first + thread::PROFILE];
    let hold = holders.iter().all(|&at| memory.u64(at) == Some(made));
    (alone && hold).then_some(holders)
}
