//! OCaml 5: ephemerons and finalisers of domains that have ended, until another domain adopts them
//! in the course of a major collection (`orph_structs`, `runtime/major_gc.c`).
//!
//! They are in a private variable of two words. Two exported functions hand things over to it: the
//! one refers to its first word, the other to its second.

use super::finalisers;
use crate::block::{tag, tag_of};
use crate::memory::{Address, Memory};

/// Fields of the variable.
const FINALISERS: u64 = 8;
/// The next of a list of `struct caml_final_info`.
const NEXT: u64 = 104;
/// More domains than this never run.
const MAX_DOMAINS: usize = 1 << 16;

/// Addresses that may be the variable's and hold something that can be its content, of those that
/// the code of both functions refers to.
pub fn find(
    memory: &impl Memory,
    by_ephemerons: impl Iterator<Item = Address>,
    by_finalisers: impl Iterator<Item = Address>,
    is_mapped: impl Fn(Address) -> bool,
) -> Vec<Address> {
    let mut seconds: Vec<Address> = by_finalisers.collect();
    seconds.sort_unstable();
    let mut found: Vec<Address> = by_ephemerons
        .filter(|at| {
            let second = at.saturating_add(FINALISERS);
            seconds.binary_search(&second).is_ok()
                && is_mapped(*at)
                && is_mapped(second)
                && is_list_of_ephemerons(memory, *at, &is_mapped)
                && is_list_of_finalisers(memory, second, &is_mapped)
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn is_list_of_ephemerons(
    memory: &impl Memory,
    at: Address,
    is_mapped: impl Fn(Address) -> bool,
) -> bool {
    let Some(first) = memory.u64(at) else { return false };
    let header = first.wrapping_sub(8);
    first == 0
        || first.is_multiple_of(8)
            && is_mapped(header)
            && memory.u64(header).is_some_and(|header| tag_of(header) == tag::ABSTRACT)
}

fn is_list_of_finalisers(
    memory: &impl Memory,
    at: Address,
    is_mapped: impl Fn(Address) -> bool,
) -> bool {
    let Some(first) = memory.u64(at) else { return false };
    first == 0
        || first.is_multiple_of(8)
            && is_mapped(first)
            && is_mapped(first.saturating_add(NEXT))
            && finalisers::is_info(memory, first, is_mapped)
}

/// Calls `each` with the `struct caml_final_info` of each domain, from the variable's address.
pub fn each_final_info(
    memory: &impl Memory,
    variable: Address,
    mut each: impl FnMut(Address),
) -> Option<()> {
    let mut next = memory.field(variable, FINALISERS)?;
    for _ in 0..MAX_DOMAINS {
        if next == 0 {
            break;
        }
        each(next);
        next = memory.field(next, NEXT)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::header;
    use crate::memory::Image;

    const BASE: Address = 0x10_0000;

    #[test]
    fn the_variable_is_known_by_its_content() {
        let mut bytes = vec![0; 0x1000];
        let mut set = |at: u64, word: u64| {
            bytes[at as usize..at as usize + 8].copy_from_slice(&word.to_le_bytes());
        };
        // An ephemeron; the tables of two domains, of one and of two entries.
        set(0x100, BASE + 0x208);
        set(0x200, header(3, tag::ABSTRACT, 0));
        set(0x108, BASE + 0x300);
        for (at, entries, next) in [(0x300, 1, BASE + 0x400), (0x400, 2, 0)] {
            set(at, BASE + 0x800);
            set(at + 16, entries);
            set(at + 24, 4);
            set(at + NEXT, next);
        }
        // Counters that stand side by side.
        set(0x500, 2);
        set(0x508, 2);
        let memory = Image { base: BASE, bytes: &bytes };
        let is_mapped = |address: u64| (BASE..BASE + 0x1000).contains(&address);
        let first = [BASE + 0x500, BASE + 0x100, BASE + 0x600, BASE + 0x10_0000];
        let second = [BASE + 0x508, BASE + 0x108, BASE + 0x700];
        let found = find(&memory, first.into_iter(), second.into_iter(), is_mapped);
        assert_eq!(found, [BASE + 0x100]);
        let mut infos = Vec::new();
        each_final_info(&memory, found[0], |info| infos.push(info)).expect("a list");
        assert_eq!(infos, [BASE + 0x300, BASE + 0x400]);
    }
}
