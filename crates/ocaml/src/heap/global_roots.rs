//! Variables that C code registered as roots: skip lists (`runtime/skiplist.c`), and the names that values were given
//! (`runtime/callback.c`).

use super::{MAX_LIST_LEN, NAME_OF_VALUE};
use crate::memory::{Address, Memory};

/// `struct skipcell`: key, data, then the next cells, of which the first is the next of all.
const NEXT_CELL: u64 = 16;

/// Calls `each` with the address of every variable in the list at `list`. `None` if it is no list.
pub fn each(memory: &impl Memory, list: Address, mut each: impl FnMut(Address)) -> Option<()> {
    let mut cell = memory.u64(list)?;
    let mut last = 0;
    for _ in 0..MAX_LIST_LEN {
        if cell == 0 {
            return Some(());
        }
        let key = memory.u64(cell)?;
        // Keys ascend.
        if key <= last {
            return None;
        }
        last = key;
        each(key);
        cell = memory.field(cell, NEXT_CELL)?;
    }
    None
}

/// Fields of `struct skiplist`: the first cells of 17 lists, and the highest list that has any.
const LISTS: u64 = 17;
const LEVEL: u64 = 8 * LISTS;

/// True if there can be a list with variables at `list`: those for which `is_variable` holds.
pub fn is_list(memory: &impl Memory, list: Address, is_variable: impl Fn(Address) -> bool) -> bool {
    let level = list.checked_add(LEVEL).and_then(|at| memory.u32(at));
    let Some(level) = level.map(u64::from).filter(|level| *level < LISTS) else { return false };
    let first = |at| memory.field(list, 8 * at);
    let are_used = (0..=level).all(|at| first(at).is_some_and(|cell| cell != 0));
    let are_empty = (level + 1..LISTS).all(|at| first(at) == Some(0));
    let mut are_variables = true;
    are_used
        && are_empty
        && each(memory, list, |key| are_variables &= key.is_multiple_of(8) && is_variable(key))
            .is_some()
        && are_variables
}

/// Lists in the table of named values.
pub(crate) const TABLE: u64 = 13;
const NEXT_NAME: u64 = 8;
const MAX_NAMES: usize = 1 << 16;

/// Calls `each` with every named value of the table at `table`: where the value is, and where its name is.
pub fn each_named(
    memory: &impl Memory,
    table: Address,
    mut each: impl FnMut(Address, Address),
) -> Option<()> {
    let mut left = MAX_NAMES;
    for list in 0..TABLE {
        let mut at = memory.field(table, 8 * list)?;
        while at != 0 {
            left = left.checked_sub(1)?;
            each(at, at.checked_add(NAME_OF_VALUE)?);
            at = memory.field(at, NEXT_NAME)?;
        }
    }
    Some(())
}

/// Number of named values, if there can be a table of them at `table`: all its lists end, and all names can be printed.
///
/// The true table has the most. Variables that stand shortly before it may seem to be a table of some of them.
pub fn count_names(memory: &impl Memory, table: Address) -> Option<usize> {
    let (mut count, mut are_names) = (0, true);
    let whole = each_named(memory, table, |_, name| {
        count += 1;
        are_names &= is_name(memory, name);
    });
    (whole.is_some() && are_names && count > 0).then_some(count)
}

fn is_name(memory: &impl Memory, name: Address) -> bool {
    let mut text = [0; 64];
    let name = memory.c_string(name, &mut text).unwrap_or_default();
    !name.is_empty() && name.iter().all(|byte| (b' '..=b'~').contains(byte))
}

/// True if there can be a named value at `at`.
pub fn is_named(memory: &impl Memory, at: Address) -> bool {
    at.checked_add(NAME_OF_VALUE).is_some_and(|name| is_name(memory, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x10_0000;

    fn image(words: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        for &(at, word) in words {
            bytes[at as usize..at as usize + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn keys_of_a_skip_list_are_variables() {
        let (first, second) = (0x200, 0x240);
        let mut words = vec![
            (0, BASE + first),
            (first, 0x5000),
            (first + NEXT_CELL, BASE + second),
            (second, 0x5010),
        ];
        let keys = |words: &[(u64, u64)]| {
            let mut keys = Vec::new();
            let bytes = image(words);
            each(&Image { base: BASE, bytes: &bytes }, BASE, |key| keys.push(key)).map(|()| keys)
        };
        assert_eq!(keys(&words), Some(vec![0x5000, 0x5010]));
        // A circle is no list.
        words.push((second + NEXT_CELL, BASE + first));
        assert_eq!(keys(&words), None);
    }

    #[test]
    fn named_values_are_in_thirteen_lists() {
        let text = u64::from_le_bytes(*b"the name");
        let words = [(24, BASE + 0x200), (0x208, BASE + 0x240), (0x210, text), (0x250, 0x41)];
        let bytes = image(&words);
        let memory = Image { base: BASE, bytes: &bytes };
        let mut found = Vec::new();
        each_named(&memory, BASE, |value, name| found.push((value, name))).expect("a table");
        assert_eq!(found, [(BASE + 0x200, BASE + 0x210), (BASE + 0x240, BASE + 0x250)]);
        assert_eq!(count_names(&memory, BASE), Some(2));
        assert_eq!(count_names(&memory, BASE + 0x300), None, "no names");
        assert_eq!(count_names(&memory, BASE + 0x1f8), None, "text is no address");
    }
}
