//! Ephemerons and weak arrays, which the runtime keeps on lists of their own (`runtime/weak.c`,
//! `runtime/caml/weak.h`).

use super::MAX_LIST_LEN;
use super::lap::Lap;
use crate::layout::MulticoreState;
use crate::memory::{Address, Memory};

/// Fields of OCaml 5's `struct caml_ephe_info`: two lists.
const LISTS: [u64; 2] = [0, 8];

/// Calls `each` with every ephemeron of a list, whose head stands at `head`.
pub fn each(memory: &impl Memory, head: Address, mut each: impl FnMut(Address)) -> Option<()> {
    let mut next = memory.u64(head)?;
    let mut lap = Lap::default();
    for _ in 0..MAX_LIST_LEN {
        if next == 0 {
            return Some(());
        }
        lap.step(next)?;
        if !next.is_multiple_of(8) {
            return None;
        }
        each(next);
        // Field 0 links to the next.
        next = memory.u64(next)?;
    }
    None
}

/// Length of a list, if all its members can be ephemerons.
pub fn count(
    memory: &impl Memory,
    head: Address,
    is_ephemeron: impl Fn(Address) -> bool,
) -> Option<usize> {
    let mut next = memory.u64(head)?;
    let mut lap = Lap::default();
    for count in 0..MAX_LIST_LEN {
        if next == 0 {
            return Some(count);
        }
        lap.step(next)?;
        if !(next.is_multiple_of(8) && is_ephemeron(next)) {
            return None;
        }
        next = memory.u64(next)?;
    }
    None
}

/// Where a domain's lists begin.
pub fn heads_of(
    memory: &impl Memory,
    fields: &MulticoreState,
    state: Address,
) -> Option<[Address; 2]> {
    let info = memory.field(state, fields.ephe_info).filter(|&info| info != 0)?;
    Some(LISTS.map(|list| info.saturating_add(list)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    #[test]
    fn a_list_is_followed_by_its_links() {
        let words = [0x8010u64, 0, 0x8020, 1, 0, 1];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let memory = Image { base: 0x8000, bytes: &bytes };
        let mut found = Vec::new();
        each(&memory, 0x8000, |at| found.push(at)).expect("a list");
        assert_eq!(found, [0x8010, 0x8020]);
        each(&memory, 0x8008, |_| panic!("empty")).expect("a list");
        assert_eq!(each(&memory, 0x8018, |_| ()), None);
    }
}
