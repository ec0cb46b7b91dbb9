//! OCaml 5: pools of small blocks, large allocations and minor heaps (`runtime/shared_heap.c`,
//! `runtime/caml/sizeclasses.h`).

use super::lap::Lap;
use super::{Extent, MAX_LIST_LEN};
use crate::block::wosize;
use crate::layout::{Layout, MulticoreState};
use crate::memory::{Address, Memory};
use crate::version::Version;

/// Words of a pool, its header among them.
pub const POOL_WORDS: u64 = 4096;
const POOL_HEADER_WORDS: u64 = 4;
const CLASSES: usize = 32;

/// Fields of `struct caml_heap_state`: four times a list for each size class, then large blocks.
const LISTS: u64 = 4 * CLASSES as u64;
const LARGE: [u64; 2] = [LISTS * 8, LISTS * 8 + 8];

/// The state of the domain whose heap it is.
const OWNER: u64 = LARGE[1] + 16;

/// Fields of `struct pool`.
const NEXT: u64 = 0;
const CLASS: u64 = 24;
/// Fields of `struct large_alloc`.
const LARGE_NEXT: u64 = 8;
const LARGE_HEADER: u64 = 16;

/// Words of a slot by size class, its block's header among them, from 5.2 on.
const SLOTS: [u32; CLASSES] = [
    1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 17, 19, 22, 25, 28, 32, 33, 37, 42, 47, 53, 59, 65, 73,
    81, 89, 99, 108, 118, 128,
];
/// The same in 5.0 and 5.1.
const SLOTS_BEFORE_5_2: [u32; CLASSES] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 23, 26, 29, 33, 37, 42, 47, 53, 59, 65, 73,
    81, 89, 99, 108, 118, 128,
];

/// A pool: slots of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Where it stands; it has [`POOL_WORDS`] words.
    pub start: Address,
    /// Which word is the first slot's header.
    pub first: u32,
    /// Words of a slot.
    pub slot: u32,
}

impl Pool {
    /// The pool at `start`, if it can be one of this class.
    fn read(memory: &impl Memory, version: Version, start: Address, class: usize) -> Option<Self> {
        if memory.u32(start.checked_add(CLASS)?)? as usize != class {
            return None;
        }
        let old = matches!(version, Version::V5_0 | Version::V5_1);
        let slot = *if old { &SLOTS_BEFORE_5_2 } else { &SLOTS }.get(class)?;
        let wasted = if old { 0 } else { (POOL_WORDS - POOL_HEADER_WORDS) % u64::from(slot) };
        Some(Self { start, first: (POOL_HEADER_WORDS + wasted) as u32, slot })
    }
}

/// Calls `each` with every pool of the domain whose `caml_heap_state` stands at `heap`.
pub fn each_pool(
    memory: &impl Memory,
    version: Version,
    heap: Address,
    mut each: impl FnMut(Pool),
) -> Option<()> {
    for list in 0..LISTS {
        let class = list as usize % CLASSES;
        let mut next = memory.field(heap, list * 8)?;
        let mut lap = Lap::default();
        for _ in 0..MAX_LIST_LEN {
            if next == 0 {
                break;
            }
            lap.step(next)?;
            each(Pool::read(memory, version, next, class)?);
            next = memory.field(next, NEXT)?;
        }
    }
    Some(())
}

/// Calls `each` with every large block of the same domain: its extent from the header on.
pub fn each_large(memory: &impl Memory, heap: Address, mut each: impl FnMut(Extent)) -> Option<()> {
    for list in LARGE {
        large_list(memory, heap.checked_add(list)?, &mut each)?;
    }
    Some(())
}

/// The private `pool_freelist`: a lock, free pools, counters, then the pools and large blocks of
/// domains that have ended. They wait there for another domain to take them over.
mod orphans {
    /// Bytes of a lock, `pthread_mutex_t`.
    #[cfg(target_arch = "aarch64")]
    pub(super) const LOCK: u64 = 48;
    #[cfg(not(target_arch = "aarch64"))]
    pub(super) const LOCK: u64 = 40;
    pub(super) const FREE: u64 = LOCK;
    pub(super) const COUNTERS: u64 = FREE + 8;
    pub(super) const POOLS: u64 = COUNTERS + 8 * 8;
    pub(super) const LARGE: u64 = POOLS + 2 * super::CLASSES as u64 * 8;
    /// In the counters, which are those of a domain's heap (`struct heap_stats`).
    pub(super) const POOL_WORDS: u64 = 0;
    pub(super) const POOL_LIVE_WORDS: u64 = 16;
    pub(super) const POOL_LOST_WORDS: u64 = 32;
    pub(super) const LARGE_WORDS: u64 = 40;
}

/// Memory of the heap that no domain has, in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unowned {
    /// Pools of domains that have ended.
    pub pools: u64,
    /// Used words in them.
    pub used: u64,
    /// Words in them that are lost between blocks and the ends of their slots.
    pub lost: u64,
    /// Large blocks of domains that have ended.
    pub large: u64,
    /// Pools that are free for any domain.
    pub free: u64,
}

impl Unowned {
    /// Reads the private `pool_freelist` at `at`. Free pools beyond a number are not counted.
    pub fn read(memory: &impl Memory, at: Address, most_free: usize) -> Option<Self> {
        let counter = |offset| memory.field(at, orphans::COUNTERS + offset);
        let mut next = memory.field(at, orphans::FREE)?;
        let mut pools = 0;
        let mut lap = Lap::default();
        while next != 0 && pools < most_free as u64 && lap.step(next).is_some() {
            pools += 1;
            // Another thread may have taken it meanwhile.
            next = memory.field(next, NEXT).unwrap_or(0);
        }
        Some(Self {
            pools: counter(orphans::POOL_WORDS)?,
            used: counter(orphans::POOL_LIVE_WORDS)?,
            lost: counter(orphans::POOL_LOST_WORDS)?,
            large: counter(orphans::LARGE_WORDS)?,
            free: pools * POOL_WORDS,
        })
    }
}

/// Finds the private `pool_freelist`: as [`find_orphans`], or the one among `candidates` with free pools and nothing else.
pub fn find_pool_freelist(
    memory: &impl Memory,
    version: Version,
    candidates: impl Iterator<Item = Address> + Clone,
    is_mapped: impl Fn(Address) -> bool,
) -> Option<Address> {
    let has_free_pools_alone = |at: Address| {
        let free = memory
            .field(at, orphans::FREE)
            .filter(|free| *free != 0 && free.is_multiple_of(4096) && is_mapped(*free));
        let rest = (orphans::COUNTERS..=orphans::LARGE).step_by(8);
        free.is_some() && rest.into_iter().all(|offset| memory.field(at, offset) == Some(0))
    };
    let places = candidates.clone();
    let mut places = places.flat_map(|at| [Some(at), at.checked_sub(orphans::COUNTERS)]).flatten();
    find_orphans(memory, version, candidates, &is_mapped)
        .or_else(|| places.find(|at| has_free_pools_alone(*at)))
}

/// Where the orphans are kept: the one among `candidates` whose pools add up to what it counts.
/// `None` if there are no orphans.
///
/// Candidates are addresses that the code of [`crate::symbols::heap::ORPHANS`] refers to: the lock,
/// and the counters.
pub fn find_orphans(
    memory: &impl Memory,
    version: Version,
    candidates: impl Iterator<Item = Address>,
    is_mapped: impl Fn(Address) -> bool,
) -> Option<Address> {
    candidates.flat_map(|at| [Some(at), at.checked_sub(orphans::COUNTERS)]).flatten().find(|&at| {
        if !is_mapped(at) || !is_mapped(at.saturating_add(orphans::LARGE)) {
            return false;
        }
        let mut pools = 0;
        let whole = each_orphaned_pool(memory, version, at, &is_mapped, |_| pools += 1);
        let words = memory.field(at, orphans::COUNTERS + orphans::POOL_WORDS);
        whole.is_some() && pools > 0 && words == Some(pools * POOL_WORDS)
    })
}

/// Calls `each` with every pool among the orphans at `at`.
pub fn each_orphaned_pool(
    memory: &impl Memory,
    version: Version,
    at: Address,
    is_mapped: impl Fn(Address) -> bool,
    mut each: impl FnMut(Pool),
) -> Option<()> {
    for list in 0..2 * CLASSES as u64 {
        let class = list as usize % CLASSES;
        let mut next = memory.field(at, orphans::POOLS + list * 8)?;
        let mut lap = Lap::default();
        for _ in 0..MAX_LIST_LEN {
            if next == 0 {
                break;
            }
            lap.step(next)?;
            if !next.is_multiple_of(4096) || !is_mapped(next) {
                return None;
            }
            each(Pool::read(memory, version, next, class)?);
            next = memory.field(next, NEXT)?;
        }
    }
    Some(())
}

/// Calls `each` with every large block among the orphans at `at`.
pub fn each_orphaned_large(
    memory: &impl Memory,
    at: Address,
    each: impl FnMut(Extent),
) -> Option<()> {
    large_list(memory, at.checked_add(orphans::LARGE)?, each)
}

fn large_list(memory: &impl Memory, head: Address, mut each: impl FnMut(Extent)) -> Option<()> {
    let mut next = memory.u64(head)?;
    let mut lap = Lap::default();
    for _ in 0..MAX_LIST_LEN {
        if next == 0 {
            break;
        }
        lap.step(next)?;
        let header = memory.field(next, LARGE_HEADER)?;
        each(Extent { start: next + LARGE_HEADER, bytes: 8 * (wosize(header) + 1) });
        next = memory.field(next, LARGE_NEXT)?;
    }
    Some(())
}

/// A domain's `caml_heap_state`.
pub fn heap_of(memory: &impl Memory, fields: &MulticoreState, state: Address) -> Option<Address> {
    memory.field(state, fields.shared_heap).filter(|&heap| heap != 0)
}

/// The same, if the heap is still this domain's: one that ended has none, and its memory may be another's.
pub fn heap_of_owner(
    memory: &impl Memory,
    fields: &MulticoreState,
    state: Address,
) -> Option<Address> {
    heap_of(memory, fields, state).filter(|&heap| memory.field(heap, OWNER) == Some(state))
}

/// The part of a domain's minor heap that holds blocks. The domain must be paused.
pub fn minor(memory: &impl Memory, layout: &Layout, state: Address) -> Option<Extent> {
    let pointer = memory.field(state, layout.state.young_ptr)?;
    Extent::between(pointer, memory.field(state, layout.state.young_end)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x10_0000;

    fn set(bytes: &mut [u8], at: u64, value: u64) {
        bytes[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
    }

    #[test]
    fn pools_of_every_list_are_found_with_their_slots() {
        let mut bytes = vec![0; 0x4000];
        // Class 2 (three words) in the first list, class 10 (14 words) in the last.
        let pools = [(2u64, 0x1000u64), (3 * 32 + 10, 0x2000)];
        for (list, at) in pools {
            set(&mut bytes, list * 8, BASE + at);
            set(&mut bytes, at + CLASS, list % 32);
        }
        let memory = Image { base: BASE, bytes: &bytes };
        let mut found = Vec::new();
        each_pool(&memory, Version::V5_3, BASE, |pool| found.push(pool)).expect("readable");
        assert_eq!(
            found,
            [
                Pool { start: BASE + 0x1000, first: 4, slot: 3 },
                Pool { start: BASE + 0x2000, first: 4 + 4092 % 14, slot: 14 },
            ]
        );
    }

    #[test]
    fn a_pool_of_another_class_is_refused() {
        let mut bytes = vec![0; 0x2000];
        set(&mut bytes, 0, BASE + 0x1000);
        set(&mut bytes, 0x1000 + CLASS, 7);
        let memory = Image { base: BASE, bytes: &bytes };
        assert_eq!(each_pool(&memory, Version::V5_3, BASE, |_| ()), None);
    }

    #[test]
    fn orphans_are_known_by_pools_that_add_up() {
        let mut bytes = vec![0; 0x4000];
        let at = 0x300u64;
        set(&mut bytes, at + orphans::COUNTERS, POOL_WORDS);
        set(&mut bytes, at + orphans::POOLS + 5 * 8, BASE + 0x1000);
        set(&mut bytes, 0x1000 + CLASS, 5);
        set(&mut bytes, at + orphans::LARGE, BASE + 0x2000);
        set(&mut bytes, 0x2000 + LARGE_HEADER, crate::block::header(300, 0, 1));
        let memory = Image { base: BASE, bytes: &bytes };
        let is_mapped = |address: u64| (BASE..BASE + 0x4000).contains(&address);
        let candidates = [0, BASE + 8, BASE + 0x3000, BASE + at + orphans::COUNTERS];
        let found = find_orphans(&memory, Version::V5_3, candidates.into_iter(), is_mapped);
        assert_eq!(found, Some(BASE + at));
        let mut pools = Vec::new();
        each_orphaned_pool(&memory, Version::V5_3, BASE + at, is_mapped, |pool| pools.push(pool));
        assert_eq!(pools, [Pool { start: BASE + 0x1000, first: 4, slot: 6 }]);
        let mut large = Vec::new();
        each_orphaned_large(&memory, BASE + at, |extent| large.push(extent));
        assert_eq!(large, [Extent { start: BASE + 0x2010, bytes: 8 * 301 }]);
    }

    #[test]
    fn memory_of_no_domain_is_counted() {
        let mut bytes = vec![0; 0x8000];
        let at = 0x300u64;
        // Two free pools, and nothing else yet.
        set(&mut bytes, at + orphans::FREE, BASE + 0x3000);
        set(&mut bytes, 0x3000 + NEXT, BASE + 0x4000);
        let candidates = [BASE + 0x20, BASE + at + orphans::COUNTERS].into_iter();
        let is_mapped = |address: u64| (BASE..BASE + 0x8000).contains(&address);
        let find = |bytes: &[u8]| {
            let memory = Image { base: BASE, bytes };
            let found = find_pool_freelist(&memory, Version::V5_3, candidates.clone(), is_mapped);
            found.and_then(|at| Unowned::read(&memory, at, 100))
        };
        let free = 2 * POOL_WORDS;
        assert_eq!(find(&bytes), Some(Unowned { free, ..Unowned::default() }));
        // Then a domain ends.
        set(&mut bytes, at + orphans::POOLS + 5 * 8, BASE + 0x1000);
        set(&mut bytes, 0x1000 + CLASS, 5);
        for (counter, words) in [
            (orphans::POOL_WORDS, POOL_WORDS),
            (orphans::POOL_LIVE_WORDS, 3_000),
            (orphans::POOL_LOST_WORDS, 6),
            (orphans::LARGE_WORDS, 301),
        ] {
            set(&mut bytes, at + orphans::COUNTERS + counter, words);
        }
        let expected = Unowned { pools: POOL_WORDS, used: 3_000, lost: 6, large: 301, free };
        assert_eq!(find(&bytes), Some(expected));
        // Neither.
        set(&mut bytes, at + orphans::FREE, 0);
        set(&mut bytes, at + orphans::POOLS + 5 * 8, 0);
        assert_eq!(find(&bytes), None);
    }

    #[test]
    fn large_blocks_are_as_long_as_their_headers_say() {
        let mut bytes = vec![0; 0x2000];
        set(&mut bytes, LARGE[1], BASE + 0x1000);
        set(&mut bytes, 0x1000 + LARGE_HEADER, crate::block::header(500, 0, 1));
        let memory = Image { base: BASE, bytes: &bytes };
        let mut found = Vec::new();
        each_large(&memory, BASE, |extent| found.push(extent)).expect("readable");
        assert_eq!(found, [Extent { start: BASE + 0x1010, bytes: 8 * 501 }]);
    }
}
