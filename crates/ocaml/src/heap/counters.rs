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

/// Fields of the words that a domain has allocated.
struct Allocation {
    /// In the minor heap, until its last collection.
    minor: Offset,
    /// Moved from there to the major heap.
    promoted: Offset,
    /// In the major heap, those moved included, until the last slice of its collection.
    major: Offset,
    /// OCaml 5: since that slice.
    pending: Option<Offset>,
}

const fn allocation(version: Version) -> Allocation {
    let (minor, pending) = match version {
        Version::V4_11 => (296 - SHIFT_4_11, None),
        Version::V4_12 | Version::V4_13 | Version::V4_14 => (296, None),
        Version::V5_0 => (376, Some(120)),
        Version::V5_1 | Version::V5_2 => (376, Some(128)),
        Version::V5_3 => (384, Some(128)),
        Version::V5_4 => (416, Some(128)),
        Version::V5_5 => (424, Some(128)),
    };
    Allocation { minor, promoted: minor + 8, major: minor + 16, pending }
}

/// Words that a domain has allocated since it began, headers included; in OCaml 4, those of the program. OCaml 4 has
/// `pending` in a variable, [`ALLOCATED_WORDS`](crate::symbols::heap::ALLOCATED_WORDS).
///
/// A large block is counted when it is allocated, a small one in the minor heap when it is allocated, and not again when
/// it is promoted.
pub fn allocated_words(
    memory: &impl Memory,
    layout: &Layout,
    state: Address,
    pending: u64,
) -> Option<u64> {
    let fields = allocation(layout.version);
    let count = |offset| {
        let value = memory.field(state, offset)?;
        // OCaml 4 counts in floating point.
        Some(if layout.single().is_some() { f64::from_bits(value) as u64 } else { value })
    };
    let pending = match fields.pending {
        Some(offset) => memory.field(state, offset)?,
        None => pending,
    };
    let major = count(fields.major)?.saturating_add(pending);
    let direct = major.saturating_sub(count(fields.promoted)?);
    let [next, start, end] =
        [layout.state.young_ptr, layout.state.young_start, layout.state.young_end]
            .map(|offset| memory.field(state, offset));
    // New blocks are below older ones.
    let young = if (start?..=end?).contains(&next?) { (end? - next?) / 8 } else { 0 };
    Some(count(fields.minor)?.saturating_add(direct).saturating_add(young))
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
    use crate::layout::tests::{TABLES, offset};
    use crate::version::Generation;

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
            let is_single = version.generation() == Generation::Single;
            for ((_, at), field) in SINGLE.iter().zip(fields).filter(|_| is_single) {
                let expected = Some(of_single(version, *at));
                assert_eq!(offset(table, field), expected, "{field} of {version}");
            }
            let Allocation { minor, promoted, major, pending } = allocation(version);
            for (field, at) in [
                ("stat_minor_words", Some(minor)),
                ("stat_promoted_words", Some(promoted)),
                ("stat_major_words", Some(major)),
                ("allocated_words", pending),
            ] {
                assert_eq!(offset(table, field), at, "{field} of {version}");
            }
        }
    }
}
