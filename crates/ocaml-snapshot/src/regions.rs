//! All memory that blocks are in.

use memtrail_heap::write::{Layout, Region, Space};
use memtrail_ocaml::Address;
use memtrail_ocaml::heap::code::referred;
use memtrail_ocaml::heap::{Extent, chunks, pools, statics};
use memtrail_ocaml::symbols::heap as names;

use super::frozen::{StoppedProcess, View};

/// OCaml 4: chunks, the minor heap, static data.
pub(crate) fn single<'v>(view: &'v View<'_, impl StoppedProcess>) -> Vec<Region<'v>> {
    let (memory, layout) = (&view.memory, &view.layout);
    let mut regions = statics(view);
    let variable = view.symbols.address(names::CHUNKS).unwrap_or(0);
    let free = Layout::Linear { free_colour: Some(chunks::FREE) };
    regions.extend(
        chunks::Chunks::new(memory, layout.version, variable)
            .into_iter()
            .flatten()
            .filter_map(|chunk| region(view, chunk, Space::Major, free)),
    );
    for &state in view.domains {
        let fields = layout.single();
        let minor = fields.and_then(|fields| chunks::minor(memory, layout, fields, state));
        regions.extend(minor.and_then(|extent| minor_heap(view, state, extent)));
    }
    regions
}

/// OCaml 5: pools, large blocks, minor heaps, static data.
pub(crate) fn multicore<'v>(view: &'v View<'_, impl StoppedProcess>) -> Vec<Region<'v>> {
    let (memory, layout) = (&view.memory, &view.layout);
    let mut regions = statics(view);
    let Some(fields) = layout.multicore() else { return regions };
    for &state in view.domains {
        if let Some(heap) = pools::heap_of(memory, fields, state) {
            let bytes = 8 * pools::POOL_WORDS;
            pools::each_pool(memory, layout.version, heap, |pool| {
                let layout = Layout::Slots { first: pool.first, slot: pool.slot };
                regions.extend(region(
                    view,
                    Extent { start: pool.start, bytes },
                    Space::Major,
                    layout,
                ));
            });
            pools::each_large(memory, heap, |extent| {
                let linear = Layout::Linear { free_colour: None };
                regions.extend(region(view, extent, Space::Large, linear));
            });
        }
        let minor = pools::minor(memory, layout, state);
        regions.extend(minor.and_then(|extent| minor_heap(view, state, extent)));
    }
    orphaned(view, &mut regions);
    regions
}

/// OCaml 5: adds pools and large blocks of domains that have ended, unless another domain has taken them over.
fn orphaned<'v>(view: &'v View<'_, impl StoppedProcess>, regions: &mut Vec<Region<'v>>) {
    let (memory, version) = (&view.memory, view.layout.version);
    let Some((code, address)) = view.code_of(names::ORPHANS) else { return };
    let is_mapped = |address| view.mapped.contains(address);
    let candidates = referred(code, address);
    let Some(at) = pools::find_orphans(memory, version, candidates, is_mapped) else { return };
    let bytes = 8 * pools::POOL_WORDS;
    pools::each_orphaned_pool(memory, version, at, is_mapped, |pool| {
        let layout = Layout::Slots { first: pool.first, slot: pool.slot };
        regions.extend(region(view, Extent { start: pool.start, bytes }, Space::Major, layout));
    });
    pools::each_orphaned_large(memory, at, |extent| {
        regions.extend(region(view, extent, Space::Large, Layout::Linear { free_colour: None }));
    });
}

fn minor_heap<'v>(
    view: &'v View<'_, impl StoppedProcess>,
    state: Address,
    extent: Extent,
) -> Option<Region<'v>> {
    let layout = if view.inexact.contains(&state) {
        Layout::Reached
    } else {
        Layout::Linear { free_colour: None }
    };
    region(view, extent, Space::Minor, layout)
}

/// A part of the memory that the runtime's tables name, as far as it can be read.
pub(super) fn region<'v>(
    view: &'v View<'_, impl StoppedProcess>,
    extent: Extent,
    space: Space,
    layout: Layout,
) -> Option<Region<'v>> {
    let words = view.memory.words(extent)?;
    Some(Region { start: extent.start, words, space, layout })
}

/// Static data of the program and its plugins, without overlap.
pub(super) fn statics<'v>(view: &'v View<'_, impl StoppedProcess>) -> Vec<Region<'v>> {
    let memory = &view.memory;
    let table = view.symbols.address(names::DATA_SEGMENTS).unwrap_or(0);
    let mut extents: Vec<Extent> = statics::segments(memory, table).collect();
    extents.extend(view.symbols.data());
    let atoms = view.symbols.address(names::ATOMS).and_then(|at| statics::atoms(memory, at));
    extents.extend(atoms.filter(|_| view.symbol_value(names::ATOMS) != 0));
    extents.sort_unstable_by_key(|extent| extent.start);
    let mut end = 0;
    let apart = extents.into_iter().filter_map(|extent| {
        let start = extent.start.max(end);
        let stop = extent.start.saturating_add(extent.bytes);
        end = end.max(stop);
        Extent::between(start, stop).filter(|extent| extent.bytes != 0)
    });
    apart.filter_map(|extent| region(view, extent, Space::Static, Layout::Reached)).collect()
}
