//! OCaml 5: what domains that have ended left behind, and no other has taken over yet.

use memtrail_heap::write::{Layout, Region, Space};
use memtrail_ocaml::heap::code::referred;
use memtrail_ocaml::heap::{Extent, ephemerons, orphans, pools};
use memtrail_ocaml::symbols::heap as names;

use super::finalisers;
use super::frozen::{StoppedProcess, View};
use super::regions::region;
use super::roots::RootList;

/// Adds pools and large blocks.
pub(super) fn memory<'v>(view: &'v View<'_, impl StoppedProcess>, regions: &mut Vec<Region<'v>>) {
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

/// Adds ephemerons and finalisers.
pub(super) fn roots(view: &View<'_, impl StoppedProcess>, list: &mut RootList) {
    let [Some((by_ephemerons, first)), Some((by_finalisers, second))] =
        names::ORPHANING.map(|name| view.code_of(name))
    else {
        return;
    };
    let found = orphans::find(
        &view.memory,
        referred(by_ephemerons, first),
        referred(by_finalisers, second),
        |address| view.mapped.contains(address),
    );
    for variable in found {
        ephemerons::each(&view.memory, variable, |at| list.ephemerons.push(at));
        let mut infos = Vec::new();
        orphans::each_final_info(&view.memory, variable, |info| infos.push(info));
        for info in infos {
            finalisers::of_info(view, list, info);
        }
    }
}
