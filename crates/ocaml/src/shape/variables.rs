//! Variables of the runtime, each told by what it leads to.

use std::collections::HashMap;

use super::linked::Linked;
use super::words::{Parts, Words};
use crate::block::{tag, tag_of, wosize};
use crate::frames::FrameTable;
use crate::heap::{ephemerons, finalisers, global_roots, threads, tracked};
use crate::layout::Layout;
use crate::memory::{Address, Memory};
use crate::symbols::{heap as names, private};
use crate::version::Generation;

/// A variable's symbol and address.
pub(super) type Variable = (&'static str, Address);

/// Lists of roots that C code registered.
pub(super) fn global_roots(memory: &impl Memory, words: &Words, parts: &Parts) -> Vec<Variable> {
    // The runtime has lists of code, too.
    let is_code = |at: Address| parts.code.iter().any(|code| code.contains(&at));
    let is_variable = |at: Address| memory.u64(at).is_some() && !is_code(at);
    let lists = words.pointers().map(|(at, _)| at);
    let lists = lists.filter(|at| global_roots::is_list(memory, *at, is_variable));
    names::GLOBAL_ROOTS.into_iter().zip(lists).collect()
}

/// The table of named values.
pub(super) fn named_values(memory: &impl Memory, words: &Words) -> Option<Variable> {
    let named = words.pointers().filter(|(_, value)| global_roots::is_named(memory, *value));
    let scored = named.flat_map(|(at, _)| {
        // Its first lists may be empty.
        (0..global_roots::TABLE).filter_map(move |lists| at.checked_sub(8 * lists))
    });
    let scored = scored.filter(|at| words.contain(*at));
    let scored = scored.filter_map(|at| Some((global_roots::count_names(memory, at)?, at)));
    // The last of several places with the same names has the fewest foreign words before it.
    let (_, table) = scored.max()?;
    Some((private::NAMED_VALUES.0, table))
}

/// OCaml 4: finalisers. The compiler puts the table of `Gc.finalise` behind that of `Gc.finalise_last`; a table that has no
/// neighbour is taken for the former, which retains its values.
pub(super) fn finalisers(memory: &impl Memory, words: &Words) -> Vec<Variable> {
    let is_closure = |closure: Address| {
        let header = closure.checked_sub(8).and_then(|at| memory.u64(at)).unwrap_or(0);
        closure.is_multiple_of(8) && matches!(tag_of(header), tag::CLOSURE | tag::INFIX)
    };
    let is_read = |at: Address| memory.u64(at).is_some();
    let tables = words.pointers().map(|(at, _)| at);
    let tables = tables.filter(|at| {
        finalisers::is_table(memory, *at, is_read)
            && finalisers::has_functions(memory, *at, is_closure)
    });
    let tables: Vec<Address> = tables.take(2).collect();
    let (first, last) = (private::FINALISERS_FIRST.0, private::FINALISERS_LAST.0);
    let mut found: Vec<Variable> = match tables[..] {
        [one, two] => vec![(last, one), (first, two)],
        [one] => vec![(first, one)],
        _ => Vec::new(),
    };
    // The list has a pointer to its last member, too, beside that to the first.
    let due = words.pointers().find(|(at, due)| {
        let last = finalisers::last_due(memory, *due, is_closure);
        let neighbours = [at.wrapping_sub(8), at.wrapping_add(8)].map(|at| memory.u64(at));
        last.is_some() && neighbours.contains(&last)
    });
    found.extend(due.map(|(at, _)| (private::FINALISERS_DUE.0, at)));
    found
}

/// Entries of a table that are looked at, at most.
const LOOKED_AT: usize = 64;

/// OCaml 4: the running thread and any thread, from the stack pointer that the state has.
pub(super) fn threads_single(memory: &impl Memory, words: &Words, sp: Address) -> Vec<Variable> {
    let mut found: Vec<(u64, Address)> = Vec::new();
    for (at, thread) in words.pointers().filter(|(_, at)| is_thread(memory, *at)) {
        let mut own = None;
        if threads::each_thread(memory, Generation::Single, thread, |it| own = own.or(Some(it))) {
            let top = own.and_then(|thread| thread.top);
            let saved = match top {
                Some(crate::heap::frames::Top::Single { sp, .. }) => sp,
                _ => 0,
            };
            found.push((saved.abs_diff(sp), at));
        }
    }
    let Some(&(_, running)) = found.iter().min() else { return Vec::new() };
    vec![(private::RUNNING_THREAD.0, running), (private::ALL_THREADS.0, running)]
}

/// OCaml 5: the table of the domains' threads.
pub(super) fn threads_multicore(
    memory: &impl Memory,
    words: &Words,
    domains: &[u64],
) -> Option<Variable> {
    let is_running = |thread: Option<Address>| {
        thread.is_some_and(|thread| {
            is_thread(memory, thread)
                && threads::each_thread(memory, Generation::Multicore, thread, |_| {})
        })
    };
    let scored = words.pointers().filter_map(|(at, _)| {
        let rings = domains.iter().filter(|domain| {
            threads::running_of_domain(memory, at, **domain).into_iter().any(is_running)
        });
        let count = rings.count();
        (count > 0).then_some((count, at))
    });
    // The first of several places that lead to as many.
    let (_, at) = scored.max_by_key(|(count, at)| (*count, std::cmp::Reverse(*at)))?;
    Some((private::THREAD_TABLE.0, at))
}

/// True if the first word leads to a descriptor, as in a `struct caml_thread_struct`.
fn is_thread(memory: &impl Memory, at: Address) -> bool {
    let descriptor = at.is_multiple_of(8).then(|| memory.u64(at)).flatten().unwrap_or(0);
    let header = descriptor.checked_sub(8).and_then(|at| memory.u64(at)).unwrap_or(0);
    descriptor.is_multiple_of(8) && tag_of(header) == 0 && (3..=5).contains(&wosize(header))
}

/// OCaml 4: the first of the list of ephemerons.
pub(super) fn ephemerons(memory: &impl Memory, words: &Words) -> Option<Variable> {
    let scored = words.pointers().filter_map(|(at, _)| {
        // Link, data and a key; the heap has no static blocks.
        let is_ephemeron = |at: Address| {
            let header = memory.u64(at.wrapping_sub(8)).unwrap_or(0);
            tag_of(header) == tag::ABSTRACT && wosize(header) >= 2 && !words.contain(at)
        };
        let count = ephemerons::count(memory, at, is_ephemeron)?;
        (count > 0).then_some((count, at))
    });
    let (_, at) = scored.max()?;
    Some((names::EPHEMERONS, at))
}

/// The variable that has the mark of empty fields: the static block that most fields of these ephemerons lead to.
pub(super) fn ephe_none(
    memory: &impl Memory,
    words: &Words,
    ephemerons: &[Address],
) -> Option<Variable> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for &ephemeron in ephemerons {
        let fields = wosize(memory.u64(ephemeron.checked_sub(8)?)?).min(LOOKED_AT as u64);
        for field in 1..fields {
            let value = memory.field(ephemeron, 8 * field)?;
            if value.is_multiple_of(8) && words.contain(value) {
                *counts.entry(value).or_default() += 1;
            }
        }
    }
    let (mark, _) = counts.into_iter().max_by_key(|(value, count)| (*count, *value))?;
    let (at, _) = words.pointers().find(|(_, word)| *word == mark)?;
    Some((names::EPHE_NONE, at))
}

/// The table of zero-sized blocks: headers of all tags, in order.
pub(super) fn atoms(memory: &impl Memory, words: &Words) -> Option<Variable> {
    let is_table = |table: Address| {
        (0..256).all(|tag| {
            let header = memory.field(table, 8 * tag);
            header.is_some_and(|it| u64::from(tag_of(it)) == tag && wosize(it) == 0)
        })
    };
    let (at, _) = words.pointers().find(|(_, table)| is_table(*table))?;
    Some((names::ATOMS, at))
}

/// OCaml 4: the table of blocks that a sampler of the program's tracks.
pub(super) fn tracked(memory: &impl Memory, words: &Words) -> Option<Variable> {
    let is_read = |at: Address| memory.u64(at).is_some();
    let mut tables = words.pointers().map(|(at, _)| at);
    Some((private::TRACKED.0, tables.find(|at| tracked::is_own_table(memory, *at, is_read))?))
}

/// The hash table of frame descriptors, which has these.
pub(super) fn frame_table(
    memory: &impl Memory,
    layout: &Layout,
    words: &Words,
    linked: &Linked,
) -> Option<FrameTable> {
    let has_samples = |table: &FrameTable| {
        let mut samples = linked.samples().take(LOOKED_AT);
        samples.all(|sample| {
            table.find(memory, sample.return_address).is_some_and(|found| found.at == sample.at)
        })
    };
    match layout.version.generation() {
        Generation::Single => {
            // The runtime makes it twice as large as needed.
            let size = linked.descriptors.checked_mul(2)?.max(4).checked_next_power_of_two()?;
            let mask = i32::try_from(size - 1).ok()?;
            let mut tables =
                words.pointers().filter_map(|(_, table)| FrameTable::given(table, mask));
            tables.find(has_samples)
        }
        Generation::Multicore => {
            let mut tables = words.all().filter_map(|(at, _)| FrameTable::multicore(memory, at));
            tables.find(has_samples)
        }
    }
}
