//! The sampler's table of blocks that it tracks (`struct tracked` in 4.x's `runtime/memprof.c`,
//! `entry_s` in 5.3's): the runtime's iterators hand out the addresses of their user data.

use super::MAX_LIST_LEN;
use crate::memory::{Address, Memory};
use crate::memprof;
use crate::version::Generation;

/// A tracked block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// Address of its field 0.
    pub block: Address,
    /// How many samples fell into it.
    pub samples: u64,
    /// What the callback of its allocation returned, or, before that, its callstack.
    pub user_data: u64,
}

/// 5.3: a flag that the block is an offset yet, not an address.
const IS_OFFSET: u64 = 1 << 2;
/// Offset of 5.3's flags from the user data.
const FLAGS_MULTICORE: u64 = 32;

impl Tracked {
    /// The entry whose user data stands at `slot`; `None` if its block is dead, or not yet there.
    pub fn read(memory: &impl Memory, generation: Generation, slot: Address) -> Option<Self> {
        let (block, samples) = match generation {
            Generation::Single => {
                (memory.u64(slot.checked_sub(24)?)?, memory.u64(slot.checked_sub(16)?)?)
            }
            Generation::Multicore => {
                if memory.field(slot, FLAGS_MULTICORE)? & IS_OFFSET != 0 {
                    return None;
                }
                (memory.u64(slot.checked_sub(8)?)?, memory.field(slot, 8)?)
            }
        };
        if block == 0 || !block.is_multiple_of(8) {
            return None;
        }
        Some(Self { block, samples, user_data: memory.u64(slot)? })
    }
}

/// Bytes of an entry, in both generations.
const ENTRY: u64 = 48;

/// Fields of OCaml 4's `struct entry_array`, and of `caml_memprof_th_ctx`.
mod single {
    pub(super) const LEAST: u64 = 8;
    pub(super) const CAPACITY: u64 = 16;
    pub(super) const LENGTH: u64 = 24;
    pub(super) const USER_DATA: u64 = 24;
    /// The first young entry, and the first that may be deleted.
    pub(super) const MARKS: [u64; 2] = [32, 40];
    pub(super) const OF_CONTEXT: u64 = 16;
}

/// Fields of 5.3's `entries_s`, and where those are in a domain, a thread, and a list of orphans.
mod multicore {
    pub(super) const SIZE: u64 = 24;
    pub(super) const CONFIG: u64 = 56;
    pub(super) const USER_DATA: u64 = 8;
    pub(super) const OF_DOMAIN: u64 = 8;
    pub(super) const OF_THREAD: u64 = 24;
    pub(super) const NEXT_ORPHANS: u64 = 64;
    pub(super) const ORPHANS: u64 = 72;
}

/// OCaml 4: calls `each` with the address of the user data of each entry of the `struct entry_array` at `table`.
pub fn each_single(
    memory: &impl Memory,
    table: Address,
    mut each: impl FnMut(Address),
) -> Option<()> {
    let entries = memory.u64(table)?;
    for index in 0..memory.field(table, single::LENGTH)? {
        let slot =
            entries.checked_add(ENTRY.checked_mul(index)?)?.checked_add(single::USER_DATA)?;
        // The end of what can be read bounds a count that is none.
        memory.u64(slot)?;
        each(slot);
    }
    Some(())
}

/// OCaml 4: the table of a thread's context.
pub const fn table_of_context(context: Address) -> Address {
    context.saturating_add(single::OF_CONTEXT)
}

/// OCaml 4: true if there can be a table with entries at `table`.
pub fn is_table(memory: &impl Memory, table: Address, is_mapped: impl Fn(Address) -> bool) -> bool {
    let field = |offset| memory.field(table, offset);
    let (Some(entries), Some(capacity), Some(length)) =
        (field(0), field(single::CAPACITY), field(single::LENGTH))
    else {
        return false;
    };
    length <= capacity && capacity > 0 && capacity < 1 << 40 && is_mapped(entries)
}

/// The least capacity of the program's own table (`MIN_ENTRIES_GLOBAL_ALLOC_LEN`).
const MIN_CAPACITY: u64 = 128;

/// OCaml 4: true if there can be the program's own table with entries at `table`, and not that of a thread.
pub fn is_own_table(
    memory: &impl Memory,
    table: Address,
    is_mapped: impl Fn(Address) -> bool,
) -> bool {
    let field = |offset| memory.field(table, offset);
    let length = field(single::LENGTH).unwrap_or(0);
    let are_inside =
        single::MARKS.into_iter().all(|mark| field(mark).is_some_and(|mark| mark <= length));
    is_table(memory, table, is_mapped)
        && length > 0
        && are_inside
        && field(single::LEAST) == Some(MIN_CAPACITY)
}

/// 5.3 and later: calls `each` with the addresses of the user data and of the profiles of a domain's tables, from its
/// `memprof_domain_s`.
pub fn each_multicore(
    memory: &impl Memory,
    domain: Address,
    mut each: impl FnMut(Address),
) -> Option<()> {
    let mut entries = |table: Address| {
        let first = memory.u64(table)?;
        for index in 0..memory.field(table, multicore::SIZE)? {
            let slot =
                first.checked_add(ENTRY.checked_mul(index)?)?.checked_add(multicore::USER_DATA)?;
            memory.u64(slot)?;
            each(slot);
        }
        each(table.checked_add(multicore::CONFIG)?);
        Some(())
    };
    entries(domain.checked_add(multicore::OF_DOMAIN)?)?;
    for (head, offset, next) in [
        (memprof::domain::THREADS, multicore::OF_THREAD, memprof::thread::NEXT),
        (multicore::ORPHANS, 0, multicore::NEXT_ORPHANS),
    ] {
        let mut at = memory.field(domain, head)?;
        for _ in 0..MAX_LIST_LEN {
            if at == 0 {
                break;
            }
            entries(at.checked_add(offset)?)?;
            at = memory.field(at, next)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    fn image(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn entries_of_both_generations_are_read() {
        let single = image(&[0x9000, 2, 5, 77, 0, 0]);
        let memory = Image { base: 0x8000, bytes: &single };
        let expected = Some(Tracked { block: 0x9000, samples: 2, user_data: 77 });
        assert_eq!(Tracked::read(&memory, Generation::Single, 0x8018), expected);
        let multicore = image(&[0x9000, 77, 2, 5, 0, 0]);
        let memory = Image { base: 0x8000, bytes: &multicore };
        assert_eq!(Tracked::read(&memory, Generation::Multicore, 0x8008), expected);
    }

    #[test]
    fn blocks_that_are_dead_or_not_yet_made_are_none() {
        let dead = image(&[1, 2, 5, 77, 0, 0]);
        let memory = Image { base: 0x8000, bytes: &dead };
        assert_eq!(Tracked::read(&memory, Generation::Single, 0x8018), None);
        let offset = image(&[0x90, 77, 2, 5, 0, 4]);
        let memory = Image { base: 0x8000, bytes: &offset };
        assert_eq!(Tracked::read(&memory, Generation::Multicore, 0x8008), None);
    }
}
