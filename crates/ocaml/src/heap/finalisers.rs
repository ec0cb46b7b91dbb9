//! Values with finalisers (`runtime/finalise.c`).

use super::MAX_LIST_LEN;
use super::code::referred;
use super::lap::Lap;
use crate::memory::{Address, Memory};

/// `struct final`: function, value, offset (of an infix pointer, already part of the value).
pub const ENTRY: u64 = 24;
/// Where the value is in an entry.
pub const VALUE: u64 = 8;

/// How a finaliser holds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `Gc.finalise`: the function will be given the value, which is kept for it.
    First,
    /// `Gc.finalise_last`: it will not, and the value is not kept.
    Last,
    /// The value was found dead, the function is about to be called.
    Due,
}

/// Fields of OCaml 5's `struct caml_final_info`: two tables, `{table, old, young, size}` and a
/// counter each, and the list of those that are due.
const TABLES: [(Kind, u64); 2] = [(Kind::First, 0), (Kind::Last, 40)];
const YOUNG: u64 = 16;
const SIZE: u64 = 24;
const DUE: u64 = 80;
/// Fields of `struct final_todo`.
const DUE_SIZE: u64 = 8;
const DUE_ENTRIES: u64 = 16;

/// Calls `each` with kind and address of each of a domain's entries, from its `final_info`.
pub fn each(
    memory: &impl Memory,
    info: Address,
    mut each: impl FnMut(Kind, Address),
) -> Option<()> {
    for (kind, at) in TABLES {
        let table = memory.field(info, at)?;
        let count = memory.field(info, at + YOUNG)?;
        for index in 0..count {
            let entry = table.checked_add(ENTRY.checked_mul(index)?)?;
            // The end of what can be read bounds a count that is none.
            memory.u64(entry)?;
            each(kind, entry);
        }
    }
    each_due(memory, memory.field(info, DUE)?, |at| each(Kind::Due, at))
}

/// OCaml 4: calls `each` with the address of each entry of the `struct finalisable` at `table`.
pub fn each_of_table(
    memory: &impl Memory,
    table: Address,
    mut each: impl FnMut(Address),
) -> Option<()> {
    let entries = memory.u64(table)?;
    for index in 0..memory.field(table, YOUNG)? {
        let entry = entries.checked_add(ENTRY.checked_mul(index)?)?;
        // The end of what can be read bounds a count that is none.
        memory.u64(entry)?;
        each(entry);
    }
    Some(())
}

/// OCaml 4: calls `each` with the address of each entry that is due, from the first `struct to_do`.
pub fn each_due(
    memory: &impl Memory,
    mut due: Address,
    mut each: impl FnMut(Address),
) -> Option<()> {
    let mut lap = Lap::default();
    for _ in 0..MAX_LIST_LEN {
        if due == 0 {
            return Some(());
        }
        lap.step(due)?;
        for index in 0..u64::from(memory.u32(due.checked_add(DUE_SIZE)?)?) {
            let entry = due.checked_add(DUE_ENTRIES + ENTRY * index)?;
            memory.u64(entry)?;
            each(entry);
        }
        due = memory.u64(due)?;
    }
    None
}

/// More entries than this are not due at once.
const MAX_DUE: u32 = 1 << 24;
/// More lists than this are not due.
const MAX_LISTS: usize = 1 << 12;
/// Entries that are looked at, to tell if they can be some.
const LOOKED_AT: u64 = 64;

/// OCaml 4: true if the `struct finalisable` at `table` has entries, and all functions of the first ones are such.
pub fn has_functions(
    memory: &impl Memory,
    table: Address,
    is_function: impl Fn(Address) -> bool,
) -> bool {
    let (entries, count) = (memory.u64(table), memory.field(table, YOUNG));
    let (Some(entries), Some(count)) = (entries, count) else { return false };
    count > 0 && are_functions(memory, entries, count, is_function)
}

/// OCaml 4: the last of the list that begins with the `struct to_do` at `due`, if it can be one with such functions.
pub fn last_due(
    memory: &impl Memory,
    mut due: Address,
    is_function: impl Fn(Address) -> bool,
) -> Option<Address> {
    for _ in 0..MAX_LISTS {
        let count = memory.u32(due.checked_add(DUE_SIZE)?)?;
        let entries = due.checked_add(DUE_ENTRIES)?;
        let is_list = (1..MAX_DUE).contains(&count)
            && are_functions(memory, entries, u64::from(count), &is_function);
        if !is_list {
            return None;
        }
        let next = memory.u64(due)?;
        if next == 0 {
            return Some(due);
        }
        due = next;
    }
    None
}

fn are_functions(
    memory: &impl Memory,
    entries: Address,
    count: u64,
    is_function: impl Fn(Address) -> bool,
) -> bool {
    (0..count.min(LOOKED_AT)).all(|index| {
        let function = entries.checked_add(ENTRY * index).and_then(|at| memory.u64(at));
        function.is_some_and(&is_function)
    })
}

/// OCaml 4: true if there can be a `struct finalisable` with entries at `table`.
pub fn is_table(memory: &impl Memory, table: Address, is_mapped: impl Fn(Address) -> bool) -> bool {
    let field = |offset| memory.field(table, offset);
    let (Some(entries), Some(old), Some(young), Some(size)) =
        (field(0), field(8), field(YOUNG), field(SIZE))
    else {
        return false;
    };
    old <= young && young <= size && size > 0 && size < 1 << 40 && is_mapped(entries)
}

/// Whether what stands at `info` can be a domain's `final_info`.
pub fn is_info(memory: &impl Memory, info: Address, is_mapped: impl Fn(Address) -> bool) -> bool {
    TABLES.iter().all(|&(_, at)| {
        let field = |offset| memory.field(info, at + offset);
        let (Some(table), Some(count), Some(size)) = (field(0), field(YOUNG), field(SIZE)) else {
            return false;
        };
        count <= size && if size == 0 { table == 0 } else { is_mapped(table) }
    })
}

/// OCaml 4: whether a function's code refers to a table that begins with the pointer `table`.
///
/// The tables are private; what distinguishes them is which of two exported functions adds to them:
/// `caml_final_register` to that of `Gc.finalise`. Only what `is_mapped` is looked at: most of what
/// code seems to refer to is nowhere.
pub fn refers_to(
    memory: &impl Memory,
    code: &[u8],
    at: Address,
    table: Address,
    is_mapped: impl Fn(Address) -> bool,
) -> bool {
    referred(code, at).any(|place| is_mapped(place) && memory.u64(place) == Some(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Image;

    const BASE: Address = 0x10_0000;

    #[test]
    fn entries_of_both_tables_and_those_due_are_found() {
        let mut bytes = vec![0; 0x400];
        let mut set = |at: u64, word: u64| {
            bytes[at as usize..at as usize + 8].copy_from_slice(&word.to_le_bytes());
        };
        set(0, BASE + 0x100);
        set(16, 2);
        set(40, BASE + 0x180);
        set(56, 1);
        set(80, BASE + 0x200);
        set(0x208, 1);
        let memory = Image { base: BASE, bytes: &bytes };
        let mut found = Vec::new();
        each(&memory, BASE, |kind, at| found.push((kind, at))).expect("readable");
        let expected = [
            (Kind::First, BASE + 0x100),
            (Kind::First, BASE + 0x118),
            (Kind::Last, BASE + 0x180),
            (Kind::Due, BASE + 0x210),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn code_that_names_the_table_is_told_from_code_that_does_not() {
        // lea table(%rip), %rdi, at the first byte; the table's variable stands 0x100 behind it.
        let mut code = vec![0x48, 0x8d, 0x3d];
        code.extend((0x100i32 - 7).to_le_bytes());
        code.extend([0xe9, 1, 2, 3, 4]);
        let mut bytes = vec![0; 0x200];
        bytes[0x100..0x108].copy_from_slice(&0x5000u64.to_le_bytes());
        let memory = Image { base: BASE, bytes: &bytes };
        let refers = |code: &[u8], at, table| refers_to(&memory, code, at, table, |_| true);
        assert!(refers(&code, BASE, 0x5000));
        assert!(!refers(&code, BASE, 0x6000));
        assert!(!refers(&code[4..], BASE + 4, 0x5000));
        assert!(!refers_to(&memory, &code, BASE, 0x5000, |place| place != BASE + 0x100));
    }
}
