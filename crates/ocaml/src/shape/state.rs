//! The runtime's state, and the version that its fields tell.

use super::words::{Parts, Words};
use crate::block::wosize;
use crate::calibrate::{Phase, calibrate};
use crate::domain_lock;
use crate::heap::{chunks, pools};
use crate::layout::{Layout, Machine};
use crate::memory::{Address, Memory};
use crate::version::Version;

/// A state of OCaml 4, and the variables that lead to it and to the heap.
pub(super) struct Single {
    pub(super) version: Version,
    pub(super) state: Address,
    pub(super) variable: Address,
    pub(super) chunks: Address,
}

/// Looks for OCaml 4's state.
pub(super) fn single(memory: &impl Memory, words: &Words) -> Option<Single> {
    let layout = Layout::of(Version::V4_13, Machine::Amd64);
    let (variable, state) = words.pointers().find(|(_, at)| is_single(memory, &layout, *at))?;
    // The lists of chunks tell 4.14, whose heads are larger.
    let longest = |version| {
        let lists = words.pointers().filter_map(|(at, _)| {
            let length = chunks::count(memory, version, at)?;
            Some((length, std::cmp::Reverse(at)))
        });
        lists.max().map(|(length, at)| (length, version, at.0))
    };
    let found = [Version::V4_13, Version::V4_14].into_iter().filter_map(longest);
    let (_, version, chunks) = found.max_by_key(|(length, ..)| *length)?;
    // In 4.12 the limit comes behind the pointer; it is below it, or at the end.
    let (first, second) = (memory.u64(state)?, memory.field(state, 8)?);
    let end = memory.field(state, layout.state.young_end)?;
    let is_limit_first = first == end || first <= second && second != end;
    let version =
        if version == Version::V4_13 && !is_limit_first { Version::V4_12 } else { version };
    Some(Single { version, state, variable, chunks })
}

fn is_single(memory: &impl Memory, layout: &Layout, at: Address) -> bool {
    let Some(fields) = layout.single() else { return false };
    let read = || {
        let field = |offset| memory.field(at, offset);
        let (start, end) = (field(layout.state.young_start)?, field(layout.state.young_end)?);
        let words = field(layout.state.minor_heap_wsz)?;
        let is_inside = |at: Address| start <= at && at <= end && at.is_multiple_of(8);
        let is_state = start != 0
            && start < end
            && end - start == words.checked_mul(8)?
            && field(fields.young_alloc_start)? == start
            && field(fields.young_alloc_end)? == end
            && field(fields.in_minor_collection)? <= 2
            && is_inside(field(layout.state.young_limit)?)
            && is_inside(field(layout.state.young_ptr)?)
            && memory.u64(start).is_some();
        Some(is_state)
    };
    at.is_multiple_of(8) && read().unwrap_or(false)
}

/// OCaml 5's states, and where each thread has a pointer to its own.
pub(super) struct Multicore {
    pub(super) version: Version,
    pub(super) states: Vec<Address>,
    /// Offset in the thread-local storage.
    pub(super) variable: u64,
}

/// Looks for OCaml 5's states in the threads' own storage.
pub(super) fn multicore(memory: &impl Memory, parts: &Parts) -> Option<Multicore> {
    let versions = [Version::V5_5, Version::V5_4, Version::V5_3, Version::V5_2];
    versions.into_iter().find_map(|version| {
        let layout = Layout::of(version, Machine::Amd64);
        let (mut states, mut own, mut other) = (Vec::new(), Vec::new(), Vec::new());
        for storage in &parts.thread_local {
            for at in storage.clone().step_by(8) {
                let Some(word) = memory.u64(at).filter(|word| *word != 0) else { continue };
                let offset = at - storage.start;
                // Versions differ in little more than where the sampler's state is, which must be where they have it.
                let is_state =
                    |state| calibrate(memory, &layout, state, None, Phase::Running) == Ok(layout);
                if is_state(word) {
                    states.push(word);
                    own.push(offset);
                } else if let Some(state) =
                    domain_lock::state_of_domain(memory, word, layout.state.young_limit)
                    && is_state(state)
                {
                    states.push(state);
                    other.push(offset);
                }
            }
        }
        states.sort_unstable();
        states.dedup();
        let version = if version == Version::V5_2 && has_old_pools(memory, &layout, &states) {
            Version::V5_1
        } else {
            version
        };
        let empty = |offset: &u64| {
            let mut own = parts.thread_local.iter().map(|storage| storage.start + offset);
            own.all(|at| memory.u64(at) == Some(0))
        };
        // While all wait, each pointer is empty: any that is, beside the one to the domain, serves as well.
        let neighbour = other.first().and_then(|domain| {
            let places = [8, -8, 16, -16, 24, -24_i64];
            places.into_iter().filter_map(|step| domain.checked_add_signed(step)).find(empty)
        });
        let variable = own.first().copied().or(neighbour)?;
        (!states.is_empty()).then_some(Multicore { version, states, variable })
    })
}

/// Pools that are looked at.
const POOLS: usize = 64;

/// True if blocks are in slots as in 5.1, whose sizes are others.
fn has_old_pools(memory: &impl Memory, layout: &Layout, states: &[Address]) -> bool {
    let Some(fields) = layout.multicore() else { return false };
    let faults = |version| {
        let (mut faults, mut left) = (0_usize, POOLS);
        for &state in states {
            let Some(heap) = pools::heap_of(memory, fields, state) else { continue };
            pools::each_pool(memory, version, heap, |pool| {
                let Some(next) = left.checked_sub(1) else { return };
                left = next;
                let slots = (u64::from(pool.first)..pools::POOL_WORDS).step_by(pool.slot as usize);
                let headers = slots.filter_map(|word| memory.field(pool.start, 8 * word));
                faults += headers.filter(|it| wosize(*it) >= u64::from(pool.slot)).count();
            });
        }
        faults
    };
    faults(Version::V5_1) < faults(Version::V5_2)
}
