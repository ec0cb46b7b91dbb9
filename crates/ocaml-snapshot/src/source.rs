//! Gathers all that a snapshot is written from.

use memtrail_heap::write::{ClosureFormat, Facts, HeapRuntime, Region, Source};
use memtrail_ocaml::heap::counters as counter_fields;
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml::{Generation, Version};

use crate::frozen::{StoppedProcess, View};
use crate::roots::RootList;
use crate::{definitions, ocaml4, ocaml5, regions as by_generation};

/// Finds all roots, and the places where global variables are defined.
pub fn roots(view: &View<'_, impl StoppedProcess>) -> RootList {
    let mut list = RootList::new();
    match view.layout.version.generation() {
        Generation::Single => ocaml4::roots(view, &mut list),
        Generation::Multicore => ocaml5::roots(view, &mut list),
    }
    definitions::add(view, &mut list);
    list
}

/// Finds all memory that blocks are in.
pub fn regions<'v>(view: &'v View<'_, impl StoppedProcess>) -> Vec<Region<'v>> {
    match view.layout.version.generation() {
        Generation::Single => by_generation::single(view),
        Generation::Multicore => by_generation::multicore(view),
    }
}

/// Puts together what the writer of snapshots is given.
pub fn source<'v>(
    view: &'v View<'_, impl StoppedProcess>,
    list: RootList,
    regions: Vec<Region<'v>>,
    facts: Facts,
    contents: bool,
) -> Source<'v> {
    Source {
        regions,
        labels: list.labels,
        roots: list.roots,
        ephemerons: list.ephemerons,
        ephe_none: view.symbol_value(names::EPHE_NONE),
        samples: list.samples,
        facts,
        runtime: HeapRuntime {
            reserved_header_bits: 0,
            closures: match view.layout.version {
                Version::V4_11 => ClosureFormat::Plain,
                _ => ClosureFormat::WithInfo,
            },
            continuations: view.layout.version.generation() == Generation::Multicore,
        },
        contents,
    }
}

/// Adds up the runtime's counters of all domains, by their names.
pub fn counters(view: &View<'_, impl StoppedProcess>) -> Vec<(Vec<u8>, u64)> {
    let mut counters: Vec<(Vec<u8>, u64)> = Vec::new();
    let mut add = |name: &str, value: u64| match counters
        .iter_mut()
        .find(|(known, _)| known == name.as_bytes())
    {
        Some((_, sum)) => *sum = sum.saturating_add(value),
        None => counters.push((name.into(), value)),
    };
    let pending = view.symbol_value(names::ALLOCATED_WORDS);
    for &state in view.domains {
        counter_fields::each(&view.memory, &view.layout, state, &mut add);
        let words = counter_fields::allocated_words(&view.memory, &view.layout, state, pending);
        if let Some(words) = words {
            add("allocated_words", words);
        }
    }
    let is_known = view.symbols.address(names::MINOR_COLLECTIONS).is_some();
    if is_known && view.layout.version.generation() == Generation::Multicore {
        // All domains collect their minor heaps together.
        add("minor_collections", view.symbol_value(names::MINOR_COLLECTIONS));
    }
    counters
}
