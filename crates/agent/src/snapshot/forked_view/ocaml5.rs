//! OCaml 5: all roots, kind by kind, of every domain.

use memtrail_heap::write::{LabelRole, RootKind};
use memtrail_ocaml::Memory as _;
use memtrail_ocaml::heap::frames::Top;
use memtrail_ocaml::heap::{ephemerons, threads};
use memtrail_ocaml::symbols::heap as names;
use memtrail_ocaml::version::Family;

use super::roots::RootList;
use super::stacks::Stacks;
use super::view::ForkedView;
use super::{finalisers, modules, orphans, registered, tracked};

pub(in crate::snapshot) fn roots(view: &ForkedView<'_>, list: &mut RootList) {
    modules::add(view, list);
    modules::add_exceptions(view, list);
    let stacks = Stacks::new(view);
    for &state in view.domains {
        domain(view, list, stacks.as_ref(), state);
    }
    tracked::add_ours(view, list);
    orphans::roots(view, list);
    // C code's roots, with the modules' fields once more, and those of plugins.
    let scanned = view.scan_globals(names::SCAN_GLOBAL_ROOTS);
    let rest = list.unlabelled(scanned);
    let (plugins, registered) =
        rest.into_iter().partition(|&(slot, _)| modules::is_of_module(view, slot));
    modules::add_rest(view, list, plugins);
    registered::add(view, list, registered, view.domains);
    for &state in view.domains {
        let rest = list.unlabelled(view.scan_domain(names::DO_ROOTS, state, 1));
        modules::add_rest(view, list, rest);
    }
}

fn domain(view: &ForkedView<'_>, list: &mut RootList, stacks: Option<&Stacks<'_>>, state: u64) {
    let memory = &view.memory;
    let layout = &view.target.runtime.layout;
    let Some(fields) = layout.multicore() else { return };
    let id = memory.field(state, fields.id).unwrap_or(0);
    let domain = list.numbered(None, RootKind::Stack, LabelRole::Domain, id);
    let top = Top::of_state(memory, layout, state);
    let local_roots = memory.field(state, layout.state.local_roots).unwrap_or(0);

    let hooked = view.scan_hook_domain(names::SCAN_ROOTS_HOOK, state);
    let mut found = Vec::new();
    // Systhreads' hook begins with the running thread's own structure.
    let running = hooked.first().map_or(0, |&(slot, _)| slot);
    let ring = threads::each_thread(memory, Family::Multicore, running, |t| found.push(t));
    if ring {
        for (index, thread) in found.iter().enumerate() {
            // A thread of ours that took the program's lock has none, and holds nothing.
            let Some(id) = thread.id else { continue };
            let label = list.numbered(Some(domain), RootKind::Stack, LabelRole::Thread, id);
            for slot in [thread.at, thread.last_exception] {
                list.add(slot, memory.u64(slot).unwrap_or(0), label);
            }
            // The running one's stack is in the state.
            let (top, roots) =
                if index == 0 { (top, local_roots) } else { (thread.top, thread.local_roots) };
            if let (Some(stacks), Some(top)) = (stacks, top) {
                stacks.add(list, label, top);
            }
            registered::add_local(view, list, id, roots);
        }
    } else {
        if let (Some(stacks), Some(top)) = (stacks, top) {
            stacks.add(list, domain, top);
        }
        registered::add_local(view, list, id, local_roots);
    }
    registered::add_hooked(list, hooked);

    let own = list.numbered(None, RootKind::Domain, LabelRole::Domain, id);
    let slot = state + fields.dls_root;
    list.add(slot, memory.u64(slot).unwrap_or(0), own);
    finalisers::of_domain(view, list, state);
    tracked::add(view, list, view.scan_domain(names::TRACKED_MULTICORE, state, 0));
    for head in ephemerons::heads_of(memory, fields, state).into_iter().flatten() {
        ephemerons::each(memory, head, |at| list.ephemerons.push(at));
    }
}
