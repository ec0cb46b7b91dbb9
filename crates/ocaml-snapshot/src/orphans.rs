//! OCaml 5: ephemerons and finalisers of domains that have ended, unless another domain has taken them over.

use memtrail_ocaml::heap::code::referred;
use memtrail_ocaml::heap::{ephemerons, orphans};
use memtrail_ocaml::symbols::heap as names;

use super::finalisers;
use super::frozen::{StoppedProcess, View};
use super::roots::RootList;

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
