//! Threads of the `Thread` module (`otherlibs/systhreads/st_stubs.c`), and what C code registered as
//! local roots (`runtime/caml/memory.h`).

use super::MAX_LIST_LEN;
use super::frames::Top;
use super::lap::Lap;
use crate::block::as_integer;
use crate::memory::{Address, Memory};
use crate::version::Generation;

/// Fields of `struct caml_thread_struct`.
#[derive(Clone, Copy)]
struct Fields {
    next: u64,
    previous: u64,
    stack: u64,
    registers: u64,
    local_roots: u64,
    last_exception: u64,
}

const SINGLE: Fields =
    Fields { next: 8, previous: 16, stack: 32, registers: 48, local_roots: 64, last_exception: 96 };
/// 4.x: behind `stack`.
const RETURN_ADDRESS: u64 = 8;

const MULTICORE: Fields =
    Fields { next: 8, previous: 16, stack: 32, registers: 80, local_roots: 48, last_exception: 72 };

/// A thread that does not run OCaml code now: its state is in its descriptor, not in the domain's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its `caml_thread_struct`; the first field is a root.
    pub at: Address,
    /// `Thread.id`; `None` before the thread has one, as when C code is registering it.
    pub id: Option<u64>,
    /// Address of the last exception whose backtrace was kept, a root.
    pub last_exception: Address,
    /// Its stack; `None` before it has run.
    pub top: Option<Top>,
    /// The head of its list of local roots.
    pub local_roots: Address,
}

/// Calls `each` with every thread of a domain, beginning with `running`, whose stack and local roots
/// are the domain's. False if this is no ring of threads.
pub fn each_thread(
    memory: &impl Memory,
    generation: Generation,
    running: Address,
    mut each: impl FnMut(Thread),
) -> bool {
    let fields = match generation {
        Generation::Single => SINGLE,
        Generation::Multicore => MULTICORE,
    };
    let mut at = running;
    for _ in 0..MAX_LIST_LEN {
        let Some((thread, next)) = read(memory, generation, &fields, at) else { return false };
        if memory.field(next, fields.previous) != Some(at) {
            return false;
        }
        each(thread);
        if next == running {
            return true;
        }
        at = next;
    }
    false
}

fn read(
    memory: &impl Memory,
    generation: Generation,
    fields: &Fields,
    at: Address,
) -> Option<(Thread, Address)> {
    if at == 0 || !at.is_multiple_of(8) {
        return None;
    }
    let descriptor = memory.u64(at)?;
    // The identifier is the first field of the descriptor.
    let id = if descriptor.is_multiple_of(8) { as_integer(memory.u64(descriptor)?) } else { None };
    let stack = memory.field(at, fields.stack)?;
    let registers = memory.field(at, fields.registers)?;
    let top = match generation {
        Generation::Single => Top::Single {
            sp: stack,
            return_address: memory.field(at, fields.stack + RETURN_ADDRESS)?,
            registers,
        },
        Generation::Multicore => Top::Multicore { fiber: stack, registers },
    };
    let thread = Thread {
        at,
        id: id.map(|id| id as u64),
        last_exception: at.checked_add(fields.last_exception)?,
        top: (stack != 0).then_some(top),
        local_roots: memory.field(at, fields.local_roots)?,
    };
    Some((thread, memory.field(at, fields.next)?))
}

/// Bytes of 5.x's `struct caml_thread_table` with glibc's mutexes; its first field is the running thread.
const TABLE_ENTRY: u64 = 144;

/// OCaml 5: candidates for the running thread of the domain with this number, from the address of the table's variable.
///
/// Until 5.2 the variable is the table, later a pointer to it.
pub fn running_of_domain(
    memory: &impl Memory,
    variable: Address,
    domain: u64,
) -> [Option<Address>; 2] {
    let offset = TABLE_ENTRY.checked_mul(domain);
    [Some(variable), memory.u64(variable)].map(|table| memory.u64(table?.checked_add(offset?)?))
}

/// `struct caml__roots_block`: next, number of tables, items in each, up to five tables.
const NEXT: u64 = 0;
const TABLES: u64 = 8;
const ITEMS: u64 = 16;
const FIRST_TABLE: u64 = 24;
const MAX_TABLES: u64 = 5;
/// A table has no more items than this.
const MAX_ITEMS: u64 = 1 << 20;
/// Damaged memory may lead to the same lists again: no more items are read.
const MAX_ALL_ITEMS: u64 = 1 << 24;

/// Calls `each` with the address of every local root of C code, from the head of their list.
pub fn each_local_root(
    memory: &impl Memory,
    mut head: Address,
    mut each: impl FnMut(Address),
) -> Option<()> {
    let (mut left, mut lap) = (MAX_ALL_ITEMS, Lap::default());
    for _ in 0..MAX_LIST_LEN {
        if head == 0 {
            return Some(());
        }
        lap.step(head)?;
        let tables = memory.field(head, TABLES)?.min(MAX_TABLES);
        let items = memory.field(head, ITEMS)?;
        if items > MAX_ITEMS {
            return None;
        }
        left = left.checked_sub(tables * items + 1)?;
        for table in 0..tables {
            let first = memory.field(head, FIRST_TABLE + 8 * table)?;
            (0..items).filter_map(|item| first.checked_add(8 * item)).for_each(&mut each);
        }
        head = memory.field(head, NEXT)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::integer;
    use crate::memory::Image;

    const BASE: Address = 0x10_0000;

    fn image(words: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = vec![0; 0x1000];
        for &(at, word) in words {
            let from = (at - BASE) as usize;
            bytes[from..from + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_ring_of_threads_is_followed_once_around() {
        let (first, second, descriptor) = (BASE + 0x100, BASE + 0x300, BASE + 0x800);
        let bytes = image(&[
            (first, descriptor),
            (first + 8, second),
            (first + 16, second),
            (second, descriptor),
            (second + 8, first),
            (second + 16, first),
            (second + 32, 0x7000),
            (second + 40, 0x4000),
            (descriptor, integer(3)),
        ]);
        let memory = Image { base: BASE, bytes: &bytes };
        let mut seen = Vec::new();
        assert!(each_thread(&memory, Generation::Single, first, |thread| seen.push(thread)));
        assert_eq!(seen.iter().map(|thread| thread.at).collect::<Vec<_>>(), [first, second]);
        assert_eq!((seen[0].top, seen[0].id), (None, Some(3)));
        let top = Top::Single { sp: 0x7000, return_address: 0x4000, registers: 0 };
        assert_eq!(seen[1].top, Some(top));
    }

    #[test]
    fn what_is_no_ring_is_refused() {
        let first = BASE + 0x100;
        let bytes = image(&[(first + 8, first), (first + 16, first + 8)]);
        let memory = Image { base: BASE, bytes: &bytes };
        assert!(!each_thread(&memory, Generation::Single, first, |_| ()));
        assert!(!each_thread(&memory, Generation::Single, 0, |_| ()));
    }

    /// A damaged core file had a table of more items than memory has.
    #[test]
    fn damaged_tables_of_local_roots_are_not_read() {
        let (block, other) = (BASE + 0x100, BASE + 0x200);
        let read = |words: &[(u64, u64)]| {
            let bytes = image(words);
            let mut count = 0;
            let memory = Image { base: BASE, bytes: &bytes };
            (each_local_root(&memory, block, |_| count += 1), count)
        };
        let huge = [(block + 8, 1), (block + 16, 1 << 60), (block + 24, 0x500)];
        assert_eq!(read(&huge), (None, 0));
        // A list that leads back.
        let (found, count) =
            read(&[(block, other), (other, block), (other + 8, 1), (other + 16, 1)]);
        assert!(found.is_none() && count < 4, "{count}");
    }

    #[test]
    fn local_roots_are_items_of_tables_of_blocks() {
        let (block, next) = (BASE + 0x100, BASE + 0x200);
        let bytes = image(&[
            (block, next),
            (block + 8, 2),
            (block + 16, 1),
            (block + 24, 0x500),
            (block + 32, 0x600),
            (next + 8, 1),
            (next + 16, 3),
            (next + 24, 0x700),
        ]);
        let memory = Image { base: BASE, bytes: &bytes };
        let mut seen = Vec::new();
        each_local_root(&memory, block, |root| seen.push(root)).expect("a list");
        assert_eq!(seen, [0x500, 0x600, 0x700, 0x708, 0x710]);
    }
}
