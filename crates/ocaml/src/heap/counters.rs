//! What the runtime counts (`runtime/caml/domain_state.tbl`, `runtime/gc_ctrl.c`).

use crate::layout::{Layout, Offset};
use crate::memory::{Address, Memory};
use crate::version::Version;

/// OCaml 4: name and offset in the state of each counter.
const SINGLE: [(&str, Offset); 5] = [
    ("minor_collections", 320),
    ("major_collections", 328),
    ("heap_words", 336),
    ("top_heap_words", 344),
    ("compactions", 352),
];
/// 4.11 has one field less before them.
const SHIFT_4_11: Offset = 8;
const HEAP_WORDS: usize = 2;

/// OCaml 5: fields of `struct heap_stats`, in `caml_heap_state` behind its owner.
const MULTICORE: [(&str, Offset); 7] = [
    ("pool_words", 1056),
    ("pool_max_words", 1064),
    ("pool_live_words", 1072),
    ("pool_live_blocks", 1080),
    ("pool_frag_words", 1088),
    ("large_words", 1096),
    ("large_blocks", 1112),
];

const fn of_single(version: Version, offset: Offset) -> Offset {
    match version {
        Version::V4_11 => offset - SHIFT_4_11,
        _ => offset,
    }
}

/// OCaml 4: words of the major heap, free ones too.
pub fn heap_words(memory: &impl Memory, layout: &Layout, state: Address) -> Option<u64> {
    memory.field(state, of_single(layout.version, SINGLE[HEAP_WORDS].1))
}

/// OCaml 5: words that the domain with this heap has taken.
pub fn heap_words_of_domain(memory: &impl Memory, heap: Address) -> Option<u64> {
    Some(memory.field(heap, 1056)?.saturating_add(memory.field(heap, 1096)?))
}

/// Calls `each` with name and value of every counter: of the program in OCaml 4, of one domain's
/// heap in OCaml 5.
pub fn each(
    memory: &impl Memory,
    layout: &Layout,
    state: Address,
    mut each: impl FnMut(&'static str, u64),
) {
    let (base, counters): (_, &[_]) = match layout.multicore() {
        None => (Some(state), &SINGLE),
        Some(fields) => (super::pools::heap_of(memory, fields, state), &MULTICORE),
    };
    for &(name, offset) in counters {
        let offset =
            if layout.single().is_some() { of_single(layout.version, offset) } else { offset };
        if let Some(value) = base.and_then(|base| memory.field(base, offset)) {
            each(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: [(Version, &str); 4] = [
        (Version::V4_11, include_str!("../../tests/fixtures/domain_state/4.11.2")),
        (Version::V4_12, include_str!("../../tests/fixtures/domain_state/4.12.1")),
        (Version::V4_13, include_str!("../../tests/fixtures/domain_state/4.13.1")),
        (Version::V4_14, include_str!("../../tests/fixtures/domain_state/4.14.2")),
    ];

    #[test]
    fn offsets_are_those_of_the_runtimes_own_tables() {
        let fields = [
            "stat_minor_collections",
            "stat_major_collections",
            "stat_heap_wsz",
            "stat_top_heap_wsz",
            "stat_compactions",
        ];
        for (version, table) in TABLES {
            for ((_, offset), field) in SINGLE.iter().zip(fields) {
                let at = table.lines().position(|line| line == field).map(|index| index as u64 * 8);
                assert_eq!(at, Some(of_single(version, *offset)), "{field} of {version}");
            }
        }
    }
}
